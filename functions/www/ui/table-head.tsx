/** A column's title, alone or with classes: "wide-only" hides the column on a phone, "end" aligns it like numbers. */
type Column = string | readonly [title: string, classes: string];

/** The head of a table. */
export const TableHead = ({ columns }: { columns: readonly Column[] }) => (
  <thead>
    <tr>
      {columns.map((column) => {
        const [title, classes] = typeof column === "string" ? [column, undefined] : column;
        return (
          <th key={title} scope="col" class={classes}>
            {title}
          </th>
        );
      })}
    </tr>
  </thead>
);
