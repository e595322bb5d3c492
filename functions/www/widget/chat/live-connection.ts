/* The live connection: one tab opens a socket and shares its frames with all tabs. */

import { PushSocket } from "../../socket/push-socket";
import { parseFrame } from "../service/frames";
import { ServiceError, type Post } from "../service/client";
import type { Chat, Frame, Message } from "../service/types";
import { TabGroup } from "../tabs/tab-group";
import type { ReadPosition } from "./conversation";

/** What tabs tell each other. */
export type TabMessage =
  | Frame
  /** A new tab has read the messages up to this position. */
  | { type: "joined"; position: ReadPosition | undefined }
  /** What the leader has read over HTTP, or another tab has sent. */
  | { type: "stored"; messages: Message[]; chat: Chat }
  | { type: "read"; position: ReadPosition }
  /** A frame for the leader to send to the service. */
  | { type: "outgoing"; frame: object }
  | { type: "cleared" }
  /** Another user has become the visitor. */
  | { type: "replaced" };

export interface LiveEvents {
  received: (message: Exclude<TabMessage, { type: "outgoing" | "incomplete" }>) => void;
  /** Called in the leader when the socket has opened, and when a frame was incomplete. What was missed must then be
   * read. */
  mustCatchUp: () => void;
  disconnected: () => void;
  sessionEnded: () => void;
}

export class LiveConnection {
  readonly #tabs: TabGroup;
  #socket: PushSocket<Frame> | undefined;
  /** Also true after `stop`, so that the connection cannot start again. */
  #isStarted = false;

  readonly #post: Post;
  readonly #token: () => string | undefined;
  readonly #events: LiveEvents;

  constructor(name: string, post: Post, token: () => string | undefined, events: LiveEvents) {
    this.#post = post;
    this.#token = token;
    this.#events = events;
    this.#tabs = new TabGroup(name, (message) => this.#onTabMessage(message as TabMessage));
  }

  get isLeader(): boolean {
    return !!this.#socket;
  }

  /** Connects, unless this or another tab is connected already. */
  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#tabs.requestLead(() => this.#lead());
  }

  /** Ends the connection for good. */
  stop(): void {
    this.#isStarted = true;
    this.#socket?.stop();
    this.#tabs.close();
  }

  tell(message: TabMessage): void {
    this.#tabs.post(message);
  }

  /** Sends a frame to the service. */
  send(frame: object): void {
    if (this.#socket) this.#socket.send(frame);
    else this.tell({ type: "outgoing", frame });
  }

  /** Called when the network is back, or the tab is visible again. */
  check(): void {
    this.#socket?.checkConnection();
  }

  #lead(): void {
    const events = this.#events;
    this.#socket = new PushSocket<Frame>(
      {
        requestTicket: () => this.#post("socket-ticket", { token: this.#token() }),
        // Do not repeat a rejected request: it would be rejected again, for example if another tab has removed the
        // visitor's token.
        isSessionEnd: (error) => error instanceof ServiceError && !error.isTemporary,
        parse: parseFrame,
      },
      {
        connected: events.mustCatchUp,
        disconnected: events.disconnected,
        sessionEnded: events.sessionEnded,
        push: (frame) => {
          if (frame.type === "incomplete") return events.mustCatchUp();
          this.tell(frame);
          events.received(frame);
        },
      },
    );
    this.#socket.start();
  }

  #onTabMessage(message: TabMessage): void {
    if (message.type === "outgoing") this.#socket?.send(message.frame);
    else if (message.type !== "incomplete") this.#events.received(message);
  }
}
