/* The tabs of one visitor. One of them, the leader, has the socket and passes its frames to the others. */

export class TabGroup {
  readonly #channel: BroadcastChannel;
  #resign: (() => void) | undefined;
  #isClosed = false;

  readonly #name: string;

  constructor(name: string, onMessage: (message: unknown) => void) {
    this.#name = name;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => onMessage(data);
  }

  /** Passes a message to the other tabs. */
  post(message: unknown): void {
    if (!this.#isClosed) this.#channel.postMessage(message);
  }

  /** Calls `onLead` as soon as no other tab is the leader. Browsers offer the Web Locks API only over HTTPS; without
   * it, each tab is a leader. */
  requestLead(onLead: () => void): void {
    void exclusively(this.#name, async () => {
      if (this.#isClosed) return;
      onLead();
      await new Promise<void>((done) => (this.#resign = done));
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#resign?.();
    this.#channel.close();
  }
}

/** Runs a task while no other tab runs one with the same name. Without the Web Locks API, or if the browser refuses the
 * lock, for example because it blocks the site's data, runs it at once. */
export async function exclusively<T>(name: string, task: () => Promise<T>): Promise<T> {
  let result: Promise<T> | undefined;
  // A task that has begun is not run again.
  const run = () => (result ??= task());
  try {
    await navigator.locks?.request(name, run);
  } catch {
    // The task has failed, or the lock was refused.
  }
  return run();
}
