/* What the visitor is typing, for the agent. */

const SEND_INTERVAL_MS = 2000;
const IDLE_MS = 5000;

export class TypingNotice {
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #text = "";
  #isTyping = false;

  readonly #send: (frame: object) => void;

  constructor(send: (frame: object) => void) {
    this.#send = send;
  }

  /** Called with the text so far after each key. */
  changed(text: string): void {
    this.#text = text;
    clearTimeout(this.#idleTimer);
    if (text.trim() === "") return this.stop();
    this.#idleTimer = setTimeout(() => this.stop(), IDLE_MS);
    if (this.#sendTimer !== undefined) return;
    this.#sendNow();
    this.#sendTimer = setTimeout(() => {
      this.#sendTimer = undefined;
      if (this.#isTyping) this.#sendNow();
    }, SEND_INTERVAL_MS);
  }

  stop(): void {
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#sendTimer);
    this.#sendTimer = undefined;
    if (this.#isTyping) this.#send({ type: "typing", typing: "typeout", text: "" });
    this.#isTyping = false;
  }

  #sendNow(): void {
    this.#isTyping = true;
    this.#send({ type: "typing", typing: "typein", text: this.#text });
  }
}
