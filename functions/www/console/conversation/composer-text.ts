/* Rules for the composer's text: length, canned replies and their placeholders. */

/** The maximum length of a message. The service rejects longer texts (docs/openapi.json, AgentMessage). */
export const MAX_TEXT_CHARACTERS = 10_000;
/** The maximum length of a canned reply (docs/openapi.json, CannedReplyText). */
export const MAX_CANNED_REPLY_CHARACTERS = 5_000;
/** From this length on, the composer shows the number of characters. */
export const SHOW_COUNT_FROM_CHARACTERS = 9_000;

/** Counts Unicode scalar values, as the service does. */
export function countCharacters(text: string): number {
  let count = text.length;
  for (let index = 0; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next <= 0xdfff) {
      count--;
      index++;
    }
  }
  return count;
}

/** Returns the canned-reply search at the caret: the text after a slash that starts a word, and the slash's position.
 * Returns undefined if there is no such slash. */
export function findCannedQuery(text: string, caret: number): { from: number; searchText: string } | undefined {
  const match = /(?:^|\s)\/([^\s/]*)$/.exec(text.slice(0, caret));
  if (match === null) return undefined;
  const searchText = match[1] ?? "";
  return { from: caret - searchText.length - 1, searchText };
}

/** Replaces the placeholders {agent} and {visitor} in a canned reply with the given names. */
export function fillPlaceholders(text: string, names: { visitor: string | undefined; agent: string }): string {
  const filled = text.replace(/\{agent\}/gi, names.agent);
  if (names.visitor !== undefined) return filled.replace(/\{visitor\}/gi, names.visitor);
  // If the visitor's name is unknown, "Hello {visitor}, ..." becomes "Hello, ...".
  return filled.replace(/\s*\{visitor\}/gi, "");
}

/** Whether a text that is about to be sent looks like the shortcut of a canned reply that was not inserted: a slash with
 * the beginning of a shortcut. While the replies are not loaded, every slash with a word does. */
export function isForgottenShortcut(text: string, replies: readonly { shortcut: string }[] | undefined): boolean {
  const typed = /^\/([^\s/]+)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return false;
  return (
    replies === undefined || replies.some(({ shortcut }) => shortcut.replace(/^\//, "").toLowerCase().startsWith(typed))
  );
}

export function matchCannedReplies<T extends { shortcut: string; text: string }>(
  replies: readonly T[],
  searchText: string,
): T[] {
  const searchTerm = searchText.toLowerCase();
  const rank = (reply: T) => {
    const shortcut = reply.shortcut.replace(/^\//, "").toLowerCase();
    if (shortcut.startsWith(searchTerm)) return 0;
    if (shortcut.includes(searchTerm)) return 1;
    return reply.text.toLowerCase().includes(searchTerm) ? 2 : 3;
  };
  return replies
    .map((reply) => ({ reply, rank: rank(reply) }))
    .filter(({ rank }) => rank < 3)
    .sort((a, b) => a.rank - b.rank)
    .map(({ reply }) => reply);
}
