/* Mentions of colleagues in private notes: an at sign with the name of an agent. */

interface Named {
  id: number;
  name: string;
}

/** Returns the name that is being typed at the caret, and where its at sign stands. Undefined if none is. */
export function findMentionQuery(text: string, caret: number): { from: number; searchText: string } | undefined {
  const match = /(?:^|[\s(])@([^\s@]{0,40})$/.exec(text.slice(0, caret));
  if (match === null) return undefined;
  const searchText = match[1] ?? "";
  return { from: caret - searchText.length - 1, searchText };
}

/** Returns the agents one of whose names begins with the text. */
export function matchAgents<Agent extends Named>(agents: readonly Agent[], searchText: string): Agent[] {
  const searchTerm = searchText.toLowerCase();
  return agents.filter(({ name }) =>
    name
      .toLowerCase()
      .split(/\s+/)
      .some((word) => word.startsWith(searchTerm)),
  );
}

/** Splits a text at the names of agents after an at sign. A longer name goes first: "@Ann Lee" is not "@Ann". */
export function splitMentions(text: string, agents: readonly Named[]): { text: string; agentId?: number }[] {
  const byLength = [...agents].sort((a, b) => b.name.length - a.name.length);
  const parts: { text: string; agentId?: number }[] = [];
  let plainFrom = 0;
  for (let at = text.indexOf("@"); at >= 0; at = text.indexOf("@", at + 1)) {
    const agent = byLength.find(({ name }) => name !== "" && text.startsWith(name, at + 1));
    const end = at + 1 + (agent?.name.length ?? 0);
    if (agent === undefined || /[\p{L}\p{N}]/u.test(text.charAt(end))) continue;
    if (at > plainFrom) parts.push({ text: text.slice(plainFrom, at) });
    parts.push({ text: text.slice(at, end), agentId: agent.id });
    plainFrom = end;
    at = end - 1;
  }
  if (plainFrom < text.length) parts.push({ text: text.slice(plainFrom) });
  return parts;
}

/** Returns the ids of the agents whom the text mentions, each once. */
export const mentionedIds = (text: string, agents: readonly Named[]): number[] => [
  ...new Set(splitMentions(text, agents).flatMap(({ agentId }) => agentId ?? [])),
];
