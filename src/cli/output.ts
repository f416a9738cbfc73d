/** The standard output of a command, and rows as aligned columns for a terminal. */

/** Scripts rely on the exit code: it is 1 when the output is lost, as on a full disk. A reader that has seen enough is no failure. */
export function failWithoutOutput({ error }: Pick<Console, 'error'>): void {
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') return
    error(`The output cannot be written: ${message}`)
    process.on('exit', (exitCode) => {
      process.exitCode = exitCode || 1
    })
  })
}

/** A terminal would obey a control character, such as one in the e-mail of an account. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, '\ufffd')

/** A line per row; the first row may hold the headings. */
export function table(rows: readonly (readonly string[])[]): string {
  const cells = rows.map((row) => row.map(printable))
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? []
  const toLine = (row: string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return cells.map((row) => toLine(row).trimEnd()).join('\n')
}
