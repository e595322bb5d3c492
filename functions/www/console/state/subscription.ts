/* Tells the service what the console shows, so that its socket gets only the pushes about this and about the agent's
   own chats. */

/** How long to wait for further changes, for example while the agent moves through a list with the keyboard. */
const SHOW_DELAY_MS = 200;
/** If the service has not confirmed a subscription within this time, it is sent again. */
const CONFIRM_TIMEOUT_MS = 10_000;

export type OpenList = "waiting" | "bot" | "active";

export interface Shown {
  /** The lists of open chats whose rows are shown, by the state of their chats. */
  lists: readonly OpenList[];
  /** The chat whose messages are shown. */
  open: number | undefined;
}

export class Subscription {
  private shown: Shown = { lists: ["waiting"], open: undefined };
  /** What the service sends through the current socket. Undefined if it still sends everything. */
  private confirmed: Shown | undefined;
  /** What has been sent and is not yet confirmed. The next one is sent only then, so that they cannot overtake. */
  private pending: Shown | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly send: (frame: object) => boolean,
    /** Called when the service has confirmed a change. `before` is undefined if the socket got every push before. */
    private readonly onConfirmed: (shown: Shown, before: Shown | undefined) => void,
  ) {}

  show(shown: Shown): void {
    this.shown = shown;
    if (this.pending === undefined) this.updateIn(SHOW_DELAY_MS);
  }

  onSocketOpen(): void {
    this.confirmed = this.pending = undefined;
    this.update();
  }

  onSocketDown(): void {
    clearTimeout(this.timer);
    this.confirmed = this.pending = undefined;
  }

  /** Called when the service has confirmed the subscription that was sent last. */
  confirm(): void {
    const before = this.confirmed;
    if (this.pending === undefined) return;
    this.confirmed = this.pending;
    this.pending = undefined;
    clearTimeout(this.timer);
    this.onConfirmed(this.confirmed, before);
    this.update();
  }

  private updateIn(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(), ms);
  }

  private update(): void {
    this.pending = undefined;
    const { lists, open } = this.shown;
    if (isSame(this.shown, this.confirmed) || !this.send({ type: "subscribe", lists, open: open ?? null })) return;
    this.pending = this.shown;
    this.updateIn(CONFIRM_TIMEOUT_MS);
  }
}

const isSame = (a: Shown, b: Shown | undefined) => a.open === b?.open && a.lists.join() === b?.lists.join();
