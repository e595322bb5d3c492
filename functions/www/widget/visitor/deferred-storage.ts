/* Storage that writes nothing to the browser before `persist` is called. Until then, and if the browser's storage is
   full or blocked, values are kept in memory.

   A browser can have several persons one after the other. The values of each person have a scope of their own, so that
   a late write for one person never reaches another one. All tabs agree on the present person through one stored
   number, which a sign-out increments. */

import { attempt } from "../attempt";
import { toJson } from "../service/client";

/** The name of the page's user. */
export const USER = "user";
/** The values that belong to the browser and outlive a sign-out. */
const SHARED = ["site", "closed-at", "invited-at", "call-offered-on"];
const PERSON = "person";

export class DeferredStorage {
  readonly #memory = new Map<string, unknown>();
  #isPersistent = false;
  #person = 0;
  /** Counts the changes of person that this tab has noticed. A task that began before a change must not go on. */
  generation = 0;

  readonly #tabId = Math.random();
  readonly #backend: Storage | undefined;
  readonly #prefix: string;
  readonly #tabBackend: Storage | undefined;

  /** `tabBackend` is the browser's storage for this tab. */
  constructor(backend: Storage | undefined, prefix: string, tabBackend?: Storage) {
    this.#backend = backend;
    this.#prefix = prefix;
    this.#tabBackend = tabBackend;
    this.#person = this.#storedPerson;
  }

  /** What distinguishes the present person in the names of channels and locks. Tabs without storage share nothing. */
  get scope(): string {
    return this.#backend ? scopeOf(this.#person) : `${this.#tabId}.`;
  }

  /** Writes the values in memory, and all later values, to the browser. Called when the visitor acts, or when the page
   * uses the API to store data of the visitor. What another tab has stored for the person stays. Does nothing if it has
   * stored another user, whom `follow` takes over. */
  persist(): void {
    if (this.#isPersistent || this.#isUserReplaced) return;
    this.#isPersistent = true;
    for (const [name, value] of this.#memory) {
      if (isShared(name) || this.#stored(name) === undefined) this.write(name, value);
      else this.#memory.delete(name);
    }
  }

  read<T>(name: string): T | undefined {
    if (this.#memory.has(name)) return this.#memory.get(name) as T;
    return (parse(this.#tabBackend, this.#key(name)) ?? this.#stored(name)) as T | undefined;
  }

  write(name: string, value: unknown): void {
    this.#memory.set(name, value);
    if (parse(this.#tabBackend, this.#key(name)) !== undefined) put(this.#tabBackend, this.#key(name), value);
    if (this.#isPersistent && put(this.#backend, this.#key(name), value)) this.#memory.delete(name);
  }

  /** Keeps a value for the later pages of this tab, also before the visitor acts. */
  writeForTab(name: string, value: unknown): void {
    this.write(name, value);
    put(this.#tabBackend, this.#key(name), value);
  }

  remove(name: string): void {
    this.#memory.delete(name);
    this.#removeStored(this.#key(name));
  }

  /** Returns the names that have a value and start with `prefix`. */
  names(prefix: string): string[] {
    const scope = scopeOf(this.#person);
    const stored = this.#storedNames()
      .filter((name) => name.startsWith(scope))
      .map((name) => name.slice(scope.length));
    return [...new Set([...this.#memory.keys(), ...stored])].filter((name) => name.startsWith(prefix));
  }

  /** Follows a sign-out in another tab, or another user whom it has stored. Returns whether the person has changed. */
  follow(): boolean {
    const person = this.#storedPerson;
    if (person > this.#person) this.#forget(person);
    else if (this.#isUserReplaced) this.#forgetMemory();
    else return false;
    return true;
  }

  /** Forgets everything about the present person, in all tabs. */
  leave(): void {
    const isStored = this.#storedNames().some((name) => !isShared(name));
    // The number comes first, so that no other tab stores more for this person.
    if (isStored) put(this.#backend, this.#prefix + PERSON, this.#person + 1);
    this.#forget(isStored ? this.#person + 1 : this.#person);
  }

  #forget(next: number): void {
    this.#forgetMemory();
    const scope = scopeOf(next);
    for (const name of this.#storedNames())
      if (!isShared(name) && !(next > this.#person && name.startsWith(scope))) this.#removeStored(this.#prefix + name);
    this.#person = next;
  }

  #forgetMemory(): void {
    for (const name of [...this.#memory.keys()]) if (!isShared(name)) this.#memory.delete(name);
    this.generation++;
  }

  /** Whether another tab has stored another user than the one in memory. */
  get #isUserReplaced(): boolean {
    const user = this.#stored(USER);
    return user !== undefined && this.#memory.has(USER) && this.#memory.get(USER) !== user;
  }

  get #storedPerson(): number {
    const person = parse(this.#backend, this.#prefix + PERSON);
    return typeof person === "number" ? person : 0;
  }

  #stored(name: string): unknown {
    return parse(this.#backend, this.#key(name));
  }

  #key(name: string): string {
    return this.#prefix + (isShared(name) ? "" : scopeOf(this.#person)) + name;
  }

  #storedNames(): string[] {
    const keys = attempt(() => Object.keys(this.#backend ?? {})) ?? [];
    return keys.filter((key) => key.startsWith(this.#prefix)).map((key) => key.slice(this.#prefix.length));
  }

  #removeStored(key: string): void {
    attempt(() => this.#backend?.removeItem(key));
  }
}

const scopeOf = (person: number) => (person > 0 ? `${person}.` : "");
const isShared = (name: string) => name === PERSON || SHARED.includes(name);
const parse = (backend: Storage | undefined, key: string): unknown =>
  attempt(() => JSON.parse(backend?.getItem(key) ?? "null") ?? undefined);
const put = (backend: Storage | undefined, key: string, value: unknown): boolean =>
  !!attempt(() => {
    backend?.setItem(key, toJson(value));
    return !!backend;
  });
