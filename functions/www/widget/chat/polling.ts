/* Reads the session again and again while changes are not pushed. */

/** The shortest and the longest time between two reads in milliseconds. */
export type Pace = readonly [number, number];

/** Each time between two reads is longer than the one before by this factor. */
const GROWTH = 1.6;

export class Polling {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #delay = 0;
  #dueAt = 0;

  readonly #pace: () => Pace | undefined;
  readonly #read: () => Promise<void>;

  /** `pace` returns undefined while nothing has to be read. */
  constructor(pace: () => Pace | undefined, read: () => Promise<void>) {
    this.#pace = pace;
    this.#read = read;
  }

  /** Starts again with the shortest time, or stops. Called when the pace may have changed, and when an answer is likely
   * soon, for example because the visitor has written. */
  restart(): void {
    const pace = this.#pace();
    if (pace && this.#timer !== undefined && this.#dueAt <= Date.now() + pace[0]) this.#delay = pace[0];
    else this.#schedule(0);
  }

  /** Starts unless it has started already. */
  ensure(): void {
    if (this.#timer === undefined) this.#schedule(0);
  }

  /** Waits as long again. Called when another tab has read the session. */
  postpone(): void {
    if (this.#timer !== undefined) this.#schedule(this.#delay);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #schedule(delay: number): void {
    this.stop();
    const pace = this.#pace();
    if (!pace) return;
    const [min, max] = pace;
    this.#delay = Math.min(max, Math.max(min, delay));
    this.#dueAt = Date.now() + this.#delay;
    this.#timer = setTimeout(async () => {
      await this.#read();
      // The reader may have been stopped meanwhile.
      if (this.#timer !== undefined) this.#schedule(this.#delay * GROWTH);
    }, this.#delay);
  }
}
