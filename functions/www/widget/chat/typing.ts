/* What the visitor is typing, for the agent. */

const SEND_INTERVAL_MS = 2000;
const IDLE_MS = 5000;

export class TypingNotice {
  #sendTimer: ReturnType<typeof setTimeout> | undefined;
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #text = "";
  #isTyping = false;

  readonly #send: (frame: object) => void;
  readonly #showsText: () => boolean;

  /** `showsText` returns whether the agent may see the text. Otherwise, the agent sees only that the visitor is typing. */
  constructor(send: (frame: object) => void, showsText: () => boolean) {
    this.#send = send;
    this.#showsText = showsText;
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
    this.#send({ type: "typing", typing: "typein", ...(this.#showsText() && { text: this.#text }) });
  }
}
