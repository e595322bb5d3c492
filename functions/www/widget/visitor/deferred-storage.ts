/* Storage that writes nothing to the browser before `persist` is called. Until then, and if the browser's storage is
   full or blocked, values are kept in memory. */

export class DeferredStorage {
  readonly #memory = new Map<string, unknown>();
  #isPersistent = false;

  readonly #backend: Storage | undefined;
  readonly #prefix: string;

  constructor(backend: Storage | undefined, prefix: string) {
    this.#backend = backend;
    this.#prefix = prefix;
  }

  /** Writes the values in memory, and all later values, to the browser. Called when the visitor acts, or when the page
   * uses the API to store data of the visitor. */
  persist(): void {
    if (this.#isPersistent) return;
    this.#isPersistent = true;
    for (const [name, value] of this.#memory) this.write(name, value);
  }

  read<T>(name: string): T | undefined {
    if (this.#memory.has(name)) return this.#memory.get(name) as T;
    return this.#attempt((backend) => JSON.parse(backend.getItem(this.#prefix + name) ?? "null") ?? undefined);
  }

  write(name: string, value: unknown): void {
    this.#memory.set(name, value);
    if (!this.#isPersistent) return;
    this.#attempt((backend) => {
      backend.setItem(this.#prefix + name, JSON.stringify(value));
      this.#memory.delete(name);
    });
  }

  remove(name: string): void {
    this.#memory.delete(name);
    this.#attempt((backend) => backend.removeItem(this.#prefix + name));
  }

  /** Returns the names that have a value and start with `prefix`. */
  names(prefix: string): string[] {
    const keys = this.#attempt((backend) => Object.keys(backend)) ?? [];
    const stored = keys.filter((key) => key.startsWith(this.#prefix)).map((key) => key.slice(this.#prefix.length));
    return [...new Set([...this.#memory.keys(), ...stored])].filter((name) => name.startsWith(prefix));
  }

  #attempt<T>(use: (backend: Storage) => T): T | undefined {
    try {
      return this.#backend && use(this.#backend);
    } catch {
      return undefined;
    }
  }
}
