import { hasStatus, type ApiClient } from "../api/client";
import type { Push } from "../api/pushes";
import { parsePush } from "./push-parser";
import type { SocketProtocol } from "./push-socket";

/** Returns the protocol of the sockets of agents. */
export function agentProtocol(api: ApiClient): SocketProtocol<Push> {
  return {
    requestTicket: () => api.post("/agent/socket-ticket"),
    isSessionEnd: (error) => hasStatus(error, 401),
    parse: parsePush,
  };
}
