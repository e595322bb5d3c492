/* The WebSocket connection through which pushes arrive. It gets a ticket, connects, sends pings, and reconnects after
   failures. */

import { backoffDelayMs } from "./backoff";

const PING_INTERVAL_MS = 5 * 60_000;
/** If no pong arrives within this time, the connection counts as broken, even if the browser reports it as open. */
const PONG_TIMEOUT_MS = 15_000;
/** If a socket has neither opened nor failed within this time, it counts as failed. */
const OPEN_TIMEOUT_MS = 10_000;
/** If a connection has lasted longer than this, the delay before the next attempt is reset to its minimum. */
const STABLE_CONNECTION_MS = 20_000;

const POLICY_VIOLATION = 1008;
const SESSION_ENDED = 4401;

/** What differs between the sockets of agents and visitors. */
export interface SocketProtocol<Push> {
  requestTicket: () => Promise<{ ticket: string; url: string }>;
  /** Whether the request for a ticket failed because the session has ended. */
  isSessionEnd: (error: unknown) => boolean;
  /** Parses a frame. Returns undefined if the frame is to be ignored. */
  parse: (data: unknown) => Push | "pong" | undefined;
  /** Returns the delay before the next attempt after this many failures. By default, it grows to 30 seconds. */
  delayMs?: (failures: number) => number;
}

export interface SocketEvents<Push> {
  /** Called when the socket has opened. Pushes are received from then on. */
  connected: () => void;
  /** Called when the socket has closed. `nextAttemptAt` is when the next attempt starts, as Unix time in
   * milliseconds. */
  disconnected: (nextAttemptAt: number) => void;
  push: (push: Push) => void;
  sessionEnded: () => void;
}

export class PushSocket<Push> {
  #socket: WebSocket | undefined;
  #failureCount = 0;
  #isStopped = true;
  #isConnecting = false;
  /** Ends the attempt to open a socket. Undefined unless a socket is being opened. */
  #abandon: (() => void) | undefined;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  #pongTimer: ReturnType<typeof setTimeout> | undefined;
  #openedAt = 0;

  readonly #protocol: SocketProtocol<Push>;
  readonly #events: SocketEvents<Push>;
  readonly #createSocket: (url: string) => WebSocket;

  constructor(
    protocol: SocketProtocol<Push>,
    events: SocketEvents<Push>,
    createSocket: (url: string) => WebSocket = (url) => new WebSocket(url),
  ) {
    this.#protocol = protocol;
    this.#events = events;
    this.#createSocket = createSocket;
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === 1;
  }

  start(): void {
    this.#isStopped = false;
    void this.#connect();
  }

  stop(): void {
    this.#isStopped = true;
    this.#clearTimers();
    this.#closeSocket();
  }

  /** Connects now instead of waiting for the next scheduled attempt. */
  reconnectNow(): void {
    if (this.#isStopped || this.#isConnecting || this.isOpen) return;
    clearTimeout(this.#retryTimer);
    void this.#connect();
  }

  /** Sends a ping if the socket is open; otherwise, reconnects. Called, for example, when the computer wakes up. */
  checkConnection(): void {
    if (this.isOpen) this.#ping();
    else this.reconnectNow();
  }

  send(frame: object): boolean {
    if (!this.isOpen) return false;
    this.#socket?.send(JSON.stringify(frame));
    return true;
  }

  async #connect(): Promise<void> {
    if (this.#isConnecting || this.#isStopped) return;
    this.#isConnecting = true;
    try {
      const { ticket, url } = await this.#protocol.requestTicket();
      if (this.#isStopped) return;
      await this.#openSocket(`${url}?ticket=${encodeURIComponent(ticket)}`);
    } catch (error) {
      if (this.#isStopped) return;
      if (this.#protocol.isSessionEnd(error)) return this.#events.sessionEnded();
      this.#scheduleReconnect();
    } finally {
      this.#isConnecting = false;
    }
  }

  #openSocket(url: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const socket = this.#createSocket(url);
      this.#socket = socket;
      let isOpened = false;
      const fail = () => {
        clearTimeout(openTimer);
        if (isOpened) return;
        if (this.#socket === socket) this.#closeSocket();
        reject(new Error("the socket did not open"));
      };
      const openTimer = setTimeout(fail, OPEN_TIMEOUT_MS);
      this.#abandon = fail;
      socket.onopen = () => {
        clearTimeout(openTimer);
        this.#abandon = undefined;
        isOpened = true;
        this.#openedAt = Date.now();
        this.#pingTimer = setInterval(() => this.#ping(), PING_INTERVAL_MS);
        resolve();
        this.#events.connected();
      };
      // Chromium fires no close event if the page's Content-Security-Policy blocks the socket.
      socket.onerror = fail;
      socket.onmessage = (event) => {
        if (this.#socket !== socket) return;
        const push = this.#protocol.parse(event.data);
        if (push === "pong") clearTimeout(this.#pongTimer);
        else if (push !== undefined) this.#events.push(push);
      };
      socket.onclose = (event) => {
        if (!isOpened) return fail();
        if (this.#socket !== socket) return;
        this.#socket = undefined;
        this.#clearTimers();
        if (this.#isStopped) return;
        if (event.code === SESSION_ENDED || event.code === POLICY_VIOLATION) return this.#events.sessionEnded();
        if (Date.now() - this.#openedAt > STABLE_CONNECTION_MS) this.#failureCount = 0;
        this.#scheduleReconnect();
      };
    });
  }

  #ping(): void {
    if (!this.send({ type: "ping" })) return;
    clearTimeout(this.#pongTimer);
    this.#pongTimer = setTimeout(() => {
      // Close the socket here, because the browser may need a minute to detect the broken connection.
      this.#closeSocket();
      this.#clearTimers();
      if (!this.#isStopped) this.#scheduleReconnect();
    }, PONG_TIMEOUT_MS);
  }

  #scheduleReconnect(): void {
    this.#failureCount++;
    const delay = this.#protocol.delayMs?.(this.#failureCount) ?? backoffDelayMs(this.#failureCount);
    this.#events.disconnected(Date.now() + delay);
    clearTimeout(this.#retryTimer);
    this.#retryTimer = setTimeout(() => void this.#connect(), delay);
  }

  #closeSocket(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket === undefined) return;
    socket.onopen = socket.onerror = socket.onclose = socket.onmessage = null;
    socket.close();
    this.#abandon?.();
    this.#abandon = undefined;
  }

  #clearTimers(): void {
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#pongTimer);
    clearInterval(this.#pingTimer);
  }
}
