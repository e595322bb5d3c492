/* The endpoint that only the local host has. */

import type { components } from "./schema";

export interface LocalHostPaths {
  "/_local/sign-in": {
    post: {
      requestBody: { content: { "application/json": { code: string } } };
      responses: { 200: { content: { "application/json": components["schemas"]["LoginResponse"] } } };
    };
  };
}
