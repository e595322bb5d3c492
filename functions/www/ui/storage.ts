/** Browser storage that prefixes all keys. If the storage is full or blocked, values are kept in memory. */
export class PrefixedStorage {
  private readonly memory = new Map<string, string>();

  constructor(
    private readonly backend: Storage | undefined,
    private readonly prefix: string,
  ) {}

  child(prefix: string): PrefixedStorage {
    return new PrefixedStorage(this.backend, this.prefix + prefix);
  }

  read<T>(name: string): T | undefined {
    const key = this.prefix + name;
    try {
      const text = this.memory.get(key) ?? this.backend?.getItem(key);
      return text === null || text === undefined ? undefined : (JSON.parse(text) as T);
    } catch {
      return undefined;
    }
  }

  write(name: string, value: unknown): void {
    const key = this.prefix + name;
    const text = JSON.stringify(value);
    try {
      if (this.backend === undefined) this.memory.set(key, text);
      else this.backend.setItem(key, text);
      if (this.backend !== undefined) this.memory.delete(key);
    } catch {
      this.memory.set(key, text);
    }
  }

  remove(name: string): void {
    const key = this.prefix + name;
    this.memory.delete(key);
    try {
      this.backend?.removeItem(key);
    } catch {
      // Access to storage is blocked, so there is nothing to remove from it.
    }
  }

  names(): string[] {
    const keys = new Set(this.memory.keys());
    try {
      for (let index = 0; index < (this.backend?.length ?? 0); index++) {
        const key = this.backend?.key(index);
        if (key) keys.add(key);
      }
    } catch {
      // Access to storage is blocked, so only the names in memory are returned.
    }
    return [...keys].filter((key) => key.startsWith(this.prefix)).map((key) => key.slice(this.prefix.length));
  }

  clear(): void {
    for (const name of this.names()) this.remove(name);
  }

  /** Returns a full storage key without its prefix, or undefined if the key does not have the prefix. */
  nameOf(key: string | null): string | undefined {
    return key?.startsWith(this.prefix) ? key.slice(this.prefix.length) : undefined;
  }
}

function open(kind: "localStorage" | "sessionStorage"): Storage | undefined {
  try {
    return globalThis[kind];
  } catch {
    return undefined;
  }
}

/** Storage that keeps its values after the browser is closed. */
export const persistentStorage = new PrefixedStorage(open("localStorage"), "switchboard.");
/** Storage that keeps its values when the tab is reloaded, and loses them when the tab is closed. */
export const tabStorage = new PrefixedStorage(open("sessionStorage"), "switchboard.");
