/** Returns a number with its noun, for example "1 chat" or "2 chats". */
export const countText = (count: number, one: string, many = `${one}s`, shown = String(count)) =>
  `${shown} ${count === 1 ? one : many}`;

const naturalOrder = new Intl.Collator(undefined, { numeric: true });

/** Compares names as people sort them: Agent 2 comes before Agent 10. */
export const compareNames = (a: { name: string }, b: { name: string }) => naturalOrder.compare(a.name, b.name);

export const capitalized = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** Returns a message of the service as a sentence. */
export const sentence = (words: string) => `${capitalized(words)}${/[.!?]$/.test(words) ? "" : "."}`;
