/* The trigger rules of the widget: the JSON in which they are stored, exported and imported, and what the form knows
   about it. Conditions and commands that the form does not know are kept unchanged. */

import type { TriggerRule } from "../../api/types";
import { t } from "../../texts/translate";

export type Condition = TriggerRule["conditions"][number];
export type Command = TriggerRule["commands"][number];

interface ConditionKind {
  name: string;
  label: string;
  value: "seconds" | "text" | "boolean";
  comparators: readonly { value: string; label: string }[];
}

const SECONDS_COMPARATORS = [
  { value: "greater", label: t`more than` },
  { value: "greater_equal", label: t`at least` },
] as const;
const secondsCondition = (name: string, label: string): ConditionKind => ({
  name,
  label,
  value: "seconds",
  comparators: SECONDS_COMPARATORS,
});

export const CONDITIONS: readonly ConditionKind[] = [
  secondsCondition("time_on_page", t`Seconds on the page`),
  secondsCondition("time_on_site", t`Seconds on the site`),
  {
    name: "page_url",
    label: t`Address of the page`,
    value: "text",
    comparators: [
      { value: "contain", label: t`contains` },
      { value: "not_contain", label: t`does not contain` },
    ],
  },
  { name: "online", label: t`An agent is online`, value: "boolean", comparators: [] },
  secondsCondition("time_after_close", t`Seconds since the window was closed`),
  secondsCondition("time_after_invitation", t`Seconds since the last invitation`),
  secondsCondition("time_after_first_message", t`Seconds since the first message`),
];

interface CommandKind {
  name: string;
  label: string;
  params: readonly { name: string; label: string; value: "text" | "boolean" }[];
}

const MESSAGE = { name: "message", label: t`Text`, value: "text" } as const;
const TITLE = { name: "title", label: t`Title`, value: "text" } as const;
const ONCE_A_DAY = { name: "once_aday", label: t`Once a day`, value: "boolean" } as const;
export const COMMANDS: readonly CommandKind[] = [
  { name: "proactive", label: t`Invite the visitor`, params: [MESSAGE] },
  { name: "system_message", label: t`Show a system message`, params: [MESSAGE] },
  { name: "open_offline", label: t`Open the offline form`, params: [TITLE, MESSAGE] },
  { name: "show_callform", label: t`Show the callback form`, params: [TITLE, ONCE_A_DAY] },
];

/** Returns a condition of a kind, with its first comparator and a default value. */
export function newCondition(name: string): Condition {
  const kind = CONDITIONS.find((kind) => kind.name === name);
  const comparator = kind?.comparators[0]?.value;
  const value = kind?.value === "boolean" ? true : kind?.value === "seconds" ? 30 : "";
  return { condition: name, ...(comparator === undefined ? {} : { comparator }), value };
}

export function newCommand(name: string): Command {
  const kind = COMMANDS.find((kind) => kind.name === name);
  const params = (kind?.params ?? []).map(({ name, value }) => [name, value === "boolean" ? false : ""]);
  return { command: name, params: Object.fromEntries(params) as Record<string, unknown> };
}

export const newRule = (name: string): TriggerRule => ({
  name,
  enabled: true,
  type: "all",
  conditions: [newCondition("time_on_page")],
  commands: [newCommand("proactive")],
});

export const formatRules = (rules: readonly TriggerRule[]) => JSON.stringify(rules, null, 2);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses the JSON of rules. Returns the rules, or what is wrong. The service validates the values. */
export function parseRules(text: string): { rules: TriggerRule[] } | { problem: string } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: t`This is not JSON: ${error instanceof Error ? error.message : ""}` };
  }
  if (!Array.isArray(value)) return { problem: t`The rules must be a list, in square brackets.` };
  for (const [index, rule] of value.entries()) {
    const problem = ruleProblem(rule);
    if (problem !== undefined) return { problem: t`Rule ${index + 1} ${problem}` };
  }
  return { rules: value as TriggerRule[] };
}

function ruleProblem(rule: unknown): string | undefined {
  if (!isObject(rule)) return t`must be an object, in braces.`;
  if (typeof rule["name"] !== "string") return t`needs a name.`;
  if (typeof rule["enabled"] !== "boolean") return t`needs enabled: true or false.`;
  if (rule["type"] !== "all") return t`needs the type "all".`;
  for (const [list, key] of [
    ["conditions", "condition"],
    ["commands", "command"],
  ] as const) {
    const items = rule[list];
    if (!Array.isArray(items)) return t`needs the list ${list}.`;
    if (!items.every((item) => isObject(item) && typeof item[key] === "string"))
      return t`needs a ${key} in each of its ${list}.`;
  }
  return undefined;
}

/** Returns what is wrong with rules by their index: a command would show an empty text. */
export function ruleProblems(rules: readonly TriggerRule[]): Record<string, string> {
  const isEmpty = ({ command, params }: Command) =>
    (command === "proactive" || command === "system_message") &&
    String((params as Record<string, unknown> | undefined)?.["message"] ?? "").trim() === "";
  return Object.fromEntries(
    rules.flatMap(({ commands }, index) => {
      const empty = commands.findIndex(isEmpty);
      return empty < 0 ? [] : [[String(index), t`Enter the text of command ${empty + 1}.`]];
    }),
  );
}

/** Returns the index of the rule that a field such as `rules[0].commands[1].params.message` belongs to. */
export function ruleIndex(field: string | undefined): number | undefined {
  const index = /^rules\[(\d+)\]/.exec(field ?? "")?.[1];
  return index === undefined ? undefined : Number(index);
}

/** Returns the service's message about a rule, such as `rules[0].commands[1].params.message must be a string`, with
 * numbers in place of indexes. */
export const ruleErrorText = (message: string) =>
  message
    .replace(/^rules\[(\d+)\]\.?/, (_, index: string) => `Rule ${Number(index) + 1}, `)
    .replace(
      /(conditions|commands)\[(\d+)\]\.?/,
      (_, list: string, index: string) => `${list.slice(0, -1)} ${Number(index) + 1}, `,
    )
    .replace(/, must/, " must");
