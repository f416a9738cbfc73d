/** The process of replay, diff and record. */
import { runReplay } from './commands.js'

const ended = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
  })

process.exitCode = await runReplay(process.argv.slice(2), { env: process.env, console, ended })
