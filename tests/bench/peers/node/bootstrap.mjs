/* A minimal runtime for Lambda's Runtime API: passes each event to the handler. The runtime that AWS ships does more
   before the first event. */

import http from "node:http";
import { handler } from "./channel-receive-message.mjs";

const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");
const agent = new http.Agent({ keepAlive: true });

const request = (method, path, body) =>
  new Promise((done, fail) => {
    const call = http.request({ host, port, method, path: `/2018-06-01/runtime/invocation/${path}`, agent }, (answer) => {
      const chunks = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => done({ headers: answer.headers, text: Buffer.concat(chunks).toString() }));
    });
    call.on("error", fail);
    call.end(body);
  });

for (;;) {
  const { headers, text } = await request("GET", "next");
  const id = headers["lambda-runtime-aws-request-id"];
  try {
    await request("POST", `${id}/response`, JSON.stringify(await handler(JSON.parse(text))));
  } catch (error) {
    await request("POST", `${id}/error`, JSON.stringify({ errorType: error.name, errorMessage: error.message }));
  }
}
