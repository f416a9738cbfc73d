/** The standard output of a command. */

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
