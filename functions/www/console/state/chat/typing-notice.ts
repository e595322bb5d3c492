/* Sends typing notices to the visitor: one when the agent starts typing, more while the agent is typing, and one when
   the agent stops. */

const REPEAT_INTERVAL_MS = 6000;
const IDLE_TIMEOUT_MS = 5000;

export class TypingNotice {
  private lastSent = 0;
  private isTyping = false;
  private idleTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: (type: "typein" | "typeout") => void) {}

  onInput(hasText: boolean): void {
    if (!hasText) return this.stop();
    clearTimeout(this.idleTimer);
    this.idleTimer = setTimeout(() => this.stop(), IDLE_TIMEOUT_MS);
    const now = Date.now();
    if (this.isTyping && now - this.lastSent < REPEAT_INTERVAL_MS) return;
    this.isTyping = true;
    this.lastSent = now;
    this.send("typein");
  }

  /** Called when the composer loses focus. The agent then counts as typing for one more second. */
  onBlur(): void {
    if (!this.isTyping) return;
    clearTimeout(this.idleTimer);
    this.idleTimer = setTimeout(() => this.stop(), 1000);
  }

  stop(): void {
    clearTimeout(this.idleTimer);
    if (!this.isTyping) return;
    this.isTyping = false;
    this.send("typeout");
  }
}
