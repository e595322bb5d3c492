/* One connection for pushes: a ticket, the socket, pings, and back again after it breaks. */

import { isStatus, type Api } from "../api/client";
import type { Push } from "../api/contract";
import { backoff } from "./backoff";
import { readPush } from "./push";

const PING_MS = 5 * 60_000;
/** A ping that is not answered in time means that the connection is dead, whatever the browser believes. */
const PONG_MS = 15_000;
const OPEN_MS = 10_000;
/** A service without sockets is asked again once in a while: it may have been deployed meanwhile. */
const UNAVAILABLE_MS = 5 * 60_000;
/** A connection that lasted this long was a good one: the next break starts again at a second. */
const STABLE_MS = 20_000;

const POLICY_VIOLATION = 1008;
const SESSION_ENDED = 4401;

export interface SocketEvents {
  /** Pushes arrive from now on. */
  open: () => void;
  /** No pushes for now; the next attempt is at this time in Unix milliseconds. */
  down: (nextAttemptAt: number) => void;
  /** The service has no sockets. */
  unavailable: () => void;
  push: (push: Push) => void;
  sessionEnded: () => void;
}

export class PushSocket {
  private socket: WebSocket | undefined;
  private failures = 0;
  private isStopped = true;
  private isConnecting = false;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setInterval> | undefined;
  private pongTimer: ReturnType<typeof setTimeout> | undefined;
  private openedAt = 0;

  constructor(
    private readonly api: Api,
    private readonly events: SocketEvents,
    private readonly create: (url: string) => WebSocket = (url) => new WebSocket(url),
  ) {}

  get isOpen(): boolean {
    return this.socket?.readyState === 1;
  }

  start(): void {
    this.isStopped = false;
    void this.connect();
  }

  stop(): void {
    this.isStopped = true;
    this.clearTimers();
    this.drop();
  }

  /** Tries at once instead of at the next attempt. */
  hurry(): void {
    if (this.isStopped || this.isConnecting || this.isOpen) return;
    clearTimeout(this.retryTimer);
    void this.connect();
  }

  /** Asks for a sign of life, for example after the machine slept. */
  check(): void {
    if (this.isOpen) this.ping();
    else this.hurry();
  }

  send(frame: object): boolean {
    if (!this.isOpen) return false;
    this.socket?.send(JSON.stringify(frame));
    return true;
  }

  private async connect(): Promise<void> {
    if (this.isConnecting || this.isStopped) return;
    this.isConnecting = true;
    try {
      const { ticket, url } = await this.api.post("/agent/socket-ticket");
      if (this.isStopped) return;
      await this.openSocket(`${url}?ticket=${encodeURIComponent(ticket)}`);
    } catch (error) {
      if (this.isStopped) return;
      if (isStatus(error, 401)) return this.events.sessionEnded();
      if (isStatus(error, 404, 405)) {
        this.events.unavailable();
        this.retryTimer = setTimeout(() => void this.connect(), UNAVAILABLE_MS);
        return;
      }
      this.retry();
    } finally {
      this.isConnecting = false;
    }
  }

  private openSocket(url: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.create(url);
      this.socket = socket;
      const tooLong = setTimeout(() => socket.close(), OPEN_MS);
      let isOpened = false;
      socket.onopen = () => {
        clearTimeout(tooLong);
        isOpened = true;
        this.openedAt = Date.now();
        this.pingTimer = setInterval(() => this.ping(), PING_MS);
        resolve();
        this.events.open();
      };
      socket.onmessage = (event) => {
        if (this.socket !== socket) return;
        const push = readPush(event.data);
        if (push === "pong") clearTimeout(this.pongTimer);
        else if (push !== undefined) this.events.push(push);
      };
      socket.onclose = (event) => {
        clearTimeout(tooLong);
        if (!isOpened) return reject(new Error("the socket did not open"));
        if (this.socket !== socket) return;
        this.socket = undefined;
        this.clearTimers();
        if (this.isStopped) return;
        if (event.code === SESSION_ENDED || event.code === POLICY_VIOLATION) return this.events.sessionEnded();
        if (Date.now() - this.openedAt > STABLE_MS) this.failures = 0;
        this.retry();
      };
    });
  }

  private ping(): void {
    if (!this.send({ type: "ping" })) return;
    clearTimeout(this.pongTimer);
    this.pongTimer = setTimeout(() => {
      // The browser may need a minute to notice; do not wait for it.
      this.drop();
      this.clearTimers();
      if (!this.isStopped) this.retry();
    }, PONG_MS);
  }

  private retry(): void {
    this.failures++;
    const delay = backoff(this.failures);
    this.events.down(Date.now() + delay);
    clearTimeout(this.retryTimer);
    this.retryTimer = setTimeout(() => void this.connect(), delay);
  }

  private drop(): void {
    const socket = this.socket;
    this.socket = undefined;
    if (socket === undefined) return;
    socket.onclose = null;
    socket.onmessage = null;
    socket.close();
  }

  private clearTimers(): void {
    clearTimeout(this.retryTimer);
    clearTimeout(this.pongTimer);
    clearInterval(this.pingTimer);
  }
}
