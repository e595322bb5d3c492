/* A part of the report: a heading, a chart, the table with the same numbers, and the file with them. */

import type { ComponentChildren } from "preact";
import { csvText, type Cell } from "../../ui/csv";
import { Icon } from "../../ui/icons";
import { saveFile } from "../../ui/save-file";
import { formatCount, type ReportTable } from "./report-model";
import { t } from "../../texts/translate";

interface ReportSectionProps {
  title: string;
  /** Shown beside the heading. */
  legend?: ComponentChildren;
  table: ReportTable;
  /** The file name without its extension. */
  fileName: string;
  /** The kind of chart. Narrow pages and paper do not show all columns of a wide table. */
  chart?: "graph" | "table" | "wide-table";
  children?: ComponentChildren;
}

export function ReportSection({ title, legend, table, fileName, chart = "graph", children }: ReportSectionProps) {
  const save = () => saveFile(`${fileName}.csv`, "text/csv", [csvText(table.columns, table.rows)]);
  return (
    <section class="report-section" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {legend}
        <span class="grow" />
        <button
          type="button"
          class="btn csv"
          aria-label={t`Save “${title}” as CSV`}
          title={t`Save as CSV`}
          onClick={save}
        >
          <Icon name="download" class="small" />
          {t`CSV`}
        </button>
      </header>
      {children}
      {chart !== "table" && (
        <details class={chart === "wide-table" ? "all-columns" : undefined}>
          <summary>{t`Table`}</summary>
          <DataTable title={title} table={table} />
        </details>
      )}
    </section>
  );
}

const cellText = (cell: Cell) => (cell === null ? "–" : typeof cell === "number" ? formatCount(cell) : cell);

export const DataTable = ({ title, table }: { title: string; table: ReportTable }) => (
  <div class="scroll data-table" tabIndex={0} role="region" aria-label={t`${title}, table`}>
    <table>
      <thead>
        <tr>
          {table.columns.map((column, index) => (
            <th key={index} scope="col" class={index === 0 ? undefined : "end"}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map(([name = "", ...cells], index) => (
          <tr key={index}>
            <th scope="row" dir="auto">
              {cellText(name)}
            </th>
            {cells.map((cell, index) => (
              <td key={index} class="num end">
                {cellText(cell)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface MeterTableProps {
  /** What a row is about, such as "Channel". */
  name: string;
  /** The heading of the numbers with a bar. */
  measure: string;
  isBad?: boolean;
  /** The headings of further columns. Narrow pages show only the first of them. */
  columns: readonly string[];
  rows: readonly { key: string | number; name: string; value: number; cells: readonly string[] }[];
}

/** A table whose rows have a bar. */
export function MeterTable({ name, measure, isBad, columns, rows }: MeterTableProps) {
  const largest = Math.max(1, ...rows.map(({ value }) => value));
  return (
    <table class={isBad ? "meters bad" : "meters"}>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          <th scope="col" colSpan={2} class="end">
            {measure}
          </th>
          {columns.map((column, index) => (
            <th key={column} scope="col" class={index === 0 ? "end" : "end wide-only"}>
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, name, value, cells }) => (
          <tr key={key}>
            <th scope="row">
              <div class="clip" dir="auto">
                {name}
              </div>
            </th>
            <td class="meter" aria-hidden="true">
              <i style={{ width: `${(100 * value) / largest}%` }} />
            </td>
            <td class="num end">{formatCount(value)}</td>
            {cells.map((cell, index) => (
              <td key={index} class={index === 0 ? "num end" : "num end wide-only"}>
                {cell}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
