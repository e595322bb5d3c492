/* Trigger rules: what the widget does by itself, for example an invitation after 30 seconds on a page. */

export interface RuleCommand {
  command: string;
  params: Record<string, unknown>;
}

/** What the conditions are compared with. Times are Unix times in milliseconds; undefined means never. */
export interface RuleContext {
  now: number;
  isOnline: boolean;
  url: string;
  pageOpenedAt: number;
  siteOpenedAt: number;
  closedAt?: number | undefined;
  invitedAt?: number | undefined;
  firstMessageAt?: number | undefined;
}

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(fieldsOf) : []);

/** Whether the seconds since `start` satisfy the condition. If `start` is undefined, `never` counts as their number. */
function isElapsed(start: number | undefined, never: number, condition: Fields, context: RuleContext): boolean {
  const limit = typeof condition["value"] === "string" ? parseFloat(condition["value"]) : condition["value"];
  if (typeof limit !== "number") return false;
  const seconds = start === undefined ? never : (context.now - start) / 1000;
  if (condition["comparator"] === "greater") return seconds > limit;
  return condition["comparator"] === "greater_equal" && seconds >= limit;
}

function isUrlMatching(condition: Fields, url: string): boolean {
  const part = condition["value"];
  if (typeof part !== "string") return false;
  const contains = url.toLowerCase().includes(part.toLowerCase());
  if (condition["comparator"] === "contain") return contains;
  return condition["comparator"] === "not_contain" && !contains;
}

/** Whether a condition holds. A condition that is unknown or has an unknown comparator does not hold. A window that was
 * never closed, and an invitation that was never shown, count as long ago; a first message that was never written does
 * not count. */
export function holds(condition: Fields, context: RuleContext): boolean {
  const elapsed = (start: number | undefined, never: number) => isElapsed(start, never, condition, context);
  switch (condition["condition"]) {
    case "online":
      return context.isOnline === (condition["value"] === true || condition["value"] === "true");
    case "time_on_page":
      return elapsed(context.pageOpenedAt, -Infinity);
    case "time_on_site":
      return elapsed(context.siteOpenedAt, -Infinity);
    case "time_after_close":
      return elapsed(context.closedAt, Infinity);
    case "time_after_invitation":
      return elapsed(context.invitedAt, Infinity);
    case "time_after_first_message":
      return elapsed(context.firstMessageAt, -Infinity);
    case "page_url":
      return isUrlMatching(condition, context.url);
    default:
      return false;
  }
}

const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Returns the text of an HTML fragment: other services export the texts of rules as HTML. */
export const plainText = (html: string): string =>
  html
    .replace(/<(script|style)\b.*?<\/\1>/gis, "")
    .replace(/\s*<(br|\/p|\/div|\/li)\b[^>]*>\s*/gi, "\n")
    .replace(/<\/?[a-z][^>]*>/gi, "")
    .replace(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w+));/gi, (all, decimal, hexadecimal, name = "") => {
      const code = decimal ? Number(decimal) : parseInt(hexadecimal, 16);
      return code ? String.fromCodePoint(code) : (ENTITIES[name.toLowerCase()] ?? all);
    })
    .trim();
const plainValue = (value: unknown) => (typeof value === "string" ? plainText(value) : value);

/** Evaluates rules. Each rule fires at most once on a page. */
export class RuleEngine {
  #waiting: Fields[] = [];

  readonly #execute: (command: RuleCommand) => void;

  constructor(execute: (command: RuleCommand) => void) {
    this.#execute = execute;
  }

  /** Replaces all rules. `rules` is their exported JSON. Disabled rules, and rules of a type other than "all", are left
   * out. */
  setRules(rules: unknown): void {
    this.#waiting = listOf(rules).filter((rule) => rule["enabled"] === true && rule["type"] === "all");
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether a rule waits that depends on the mode. */
  get usesMode(): boolean {
    return this.#waiting.some((rule) => listOf(rule["conditions"]).some(({ condition }) => condition === "online"));
  }

  evaluate(context: RuleContext): void {
    const due = this.#waiting.filter((rule) =>
      listOf(rule["conditions"]).every((condition) => holds(condition, context)),
    );
    this.#waiting = this.#waiting.filter((rule) => !due.includes(rule));
    for (const { command, params } of due.flatMap((rule) => listOf(rule["commands"]))) {
      const values = Object.entries(fieldsOf(params)).map(([name, value]) => [name, plainValue(value)]);
      this.#execute({ command: String(command), params: Object.fromEntries(values) });
    }
  }
}
