/** A cell of a table. Null is an empty cell. */
export type Cell = string | number | null;

/** Formats a cell, quoting texts. A spreadsheet would execute a text that begins like a formula, also with full-width
 * characters, so such a text gets a leading apostrophe. */
function csvCell(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const isFormula = /^[=+\-@\t\r＝＋－＠]/.test(cell);
  return `"${isFormula ? "'" : ""}${cell.replaceAll('"', '""')}"`;
}

/** Spreadsheets read a file without a byte-order mark in a local character set. */
export const BYTE_ORDER_MARK = "\ufeff";

/** Returns a table as a CSV file (RFC 4180). */
export const csvText = (columns: readonly string[], rows: readonly (readonly Cell[])[]): string =>
  BYTE_ORDER_MARK + [columns, ...rows].map((cells) => `${cells.map(csvCell).join(",")}\r\n`).join("");

/** Returns the number of lines of a CSV text. Line breaks in quoted cells are not counted. */
export const countCsvLines = (text: string): number =>
  text
    .split('"')
    .filter((_, index) => index % 2 === 0)
    .reduce((count, unquoted) => count + unquoted.split("\n").length - 1, 0);
