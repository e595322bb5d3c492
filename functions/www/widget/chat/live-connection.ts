/* The live connection: one tab opens a socket and shares its frames with all tabs. */

import { backoffDelayMs } from "../../socket/backoff";
import { PushSocket } from "../../socket/push-socket";
import { parseFrame } from "../service/frames";
import { ServiceError, type Post } from "../service/client";
import type { Chat, Frame, Message } from "../service/types";
import { TabGroup } from "../tabs/tab-group";
import type { ReadPosition } from "./conversation";

/** How changes arrive: "live" if they are pushed, "slow" if there is no socket, but the service responds to requests, and
 * "none" if it does not. */
export type Link = "live" | "slow" | "none";

/** If the service responds but the socket does not open, a proxy or the page's policy probably blocks it. */
const MAX_BLOCKED_DELAY_MS = 5 * 60_000;

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
  | { type: "link"; link: Link }
  /** Asks the leader to read the session, because nothing is pushed. */
  | { type: "poll" };

export interface LiveEvents {
  received: (message: Exclude<TabMessage, { type: "outgoing" | "incomplete" }>) => void;
  /** Called in the leader when the socket has opened, and when a frame was incomplete. What was missed must then be
   * read. */
  mustCatchUp: () => void;
  /** Called in the leader. The other tabs receive a message. */
  linkChanged: (link: Link) => void;
  sessionEnded: () => void;
}

export class LiveConnection {
  readonly #tabs: TabGroup;
  #socket: PushSocket<Frame> | undefined;
  /** Also true after `stop`, so that the connection cannot start again. */
  #isStarted = false;
  #link: Link | undefined;
  /** Whether the last request for a ticket got a response. */
  #isReachable = false;

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

  /** Called in the leader when the session was read, or could not be read. */
  reportRead(isReachable: boolean): void {
    if (this.#link === undefined || this.#link === "live") return;
    const isBack = isReachable && this.#link === "none";
    this.#setLink(isReachable ? "slow" : "none");
    if (isBack) this.#socket?.reconnectNow();
  }

  /** Tells a new tab how changes arrive. */
  shareLink(): void {
    if (this.#link) this.tell({ type: "link", link: this.#link });
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
        requestTicket: async () => {
          try {
            const ticket = await this.#post<{ ticket: string; url: string }>("socket-ticket", { token: this.#token() });
            this.#isReachable = true;
            return ticket;
          } catch (error) {
            this.#isReachable = error instanceof ServiceError;
            throw error;
          }
        },
        delayMs: (failures) =>
          this.#isReachable ? backoffDelayMs(failures, undefined, MAX_BLOCKED_DELAY_MS) : backoffDelayMs(failures),
        // Do not repeat a rejected request: it would be rejected again, for example if another tab has removed the
        // visitor's token.
        isSessionEnd: (error) => error instanceof ServiceError && !error.isTemporary,
        parse: parseFrame,
      },
      {
        connected: () => {
          this.#setLink("live");
          events.mustCatchUp();
        },
        disconnected: () => this.#setLink(this.#isReachable ? "slow" : "none"),
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

  #setLink(link: Link): void {
    if (link === this.#link) return;
    this.#link = link;
    this.shareLink();
    this.#events.linkChanged(link);
  }

  #onTabMessage(message: TabMessage): void {
    if (message.type === "outgoing") this.#socket?.send(message.frame);
    else if (message.type !== "incomplete") this.#events.received(message);
  }
}
