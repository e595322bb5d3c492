/** Formats a value as a JavaScript literal, for example `{result: "ok"}`. */
export function formatLiteral(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatLiteral).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `${name}: ${formatLiteral(field)}`).join(", ")}}`;
  }
  if (typeof value === "function") return "callback";
  return JSON.stringify(value) ?? "undefined";
}
