/** Rows as aligned columns for a terminal. */

/** A terminal would obey a control character, such as one in the e-mail of an account. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\ufffd')

/** A line per row; the first row may hold the headings. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable))
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  const toLine = (row: string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return cells.map((row) => toLine(row).trimEnd()).join('\n')
}
