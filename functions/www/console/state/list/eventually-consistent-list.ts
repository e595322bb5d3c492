/* Lists that the service reads from an index, in which a change appears after some seconds. */

import { signal } from "@preact/signals";
import { compareNames } from "../../../ui/words";

const INDEX_DELAY_MS = 15_000;

/** A change that was made on this page. `item` is undefined if the item was deleted. */
export interface RecentChange<Item> {
  at: number;
  item: Item | undefined;
}

/** Returns the listed items, sorted by name, with the changes that the index may not contain yet. */
export function withRecentChanges<Item extends { name: string }>(
  listed: readonly Item[],
  idOf: (item: Item) => string,
  changes: ReadonlyMap<string, RecentChange<Item>>,
  now: number,
): Item[] {
  const items = new Map(listed.map((item) => [idOf(item), item]));
  for (const [id, { at, item }] of changes) {
    if (now - at > INDEX_DELAY_MS) continue;
    if (item === undefined) items.delete(id);
    else items.set(id, item);
  }
  return [...items.values()].sort(compareNames);
}

export class EventuallyConsistentList<Item extends { name: string }> {
  /** Undefined until the list has been loaded. */
  readonly items = signal<readonly Item[] | undefined>(undefined);
  private readonly changes = new Map<string, RecentChange<Item>>();

  constructor(
    private readonly read: () => Promise<readonly Item[]>,
    private readonly idOf: (item: Item) => string,
  ) {}

  async load(): Promise<void> {
    const listed = await this.read();
    this.items.value = withRecentChanges(listed, this.idOf, this.changes, Date.now());
  }

  /** Adds or replaces an item that was created or changed on this page. */
  put(item: Item): void {
    this.apply(this.idOf(item), item);
  }

  remove(id: string): void {
    this.apply(id, undefined);
  }

  private apply(id: string, item: Item | undefined): void {
    const now = Date.now();
    for (const [other, { at }] of this.changes) if (now - at > INDEX_DELAY_MS) this.changes.delete(other);
    this.changes.set(id, { at: now, item });
    const listed = this.items.peek();
    if (listed !== undefined) this.items.value = withRecentChanges(listed, this.idOf, this.changes, now);
  }
}
