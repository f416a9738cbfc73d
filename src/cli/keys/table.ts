/** Rows as columns that line up in a terminal. Knows nothing of keys. */

/** A control character in a cell would be obeyed by the terminal. */
const visible = (cell: string): string => cell.replace(/\p{Cc}/gu, '\ufffd')

/** A line per row under a line of headings, columns two spaces apart. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [headings, ...rows].map((row) => row.map(visible))
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
