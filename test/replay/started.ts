/** The commands replay and record as processes, and a folder for them to work on. */
import { EventEmitter, once } from 'node:events'
import { resolve } from 'node:path'
import type { Test } from 'tap'
import { runReplay } from '../../src/replay/commands.js'
import { hashOf } from '../../src/replay/replay.js'
import { program } from '../program.js'

export const acme = resolve('fixtures/acme')

type StartArguments = [command: 'replay' | 'record', args: string[], env?: Record<string, string>]

/** A command in this process: its output so far, and its exit code. */
export function started(t: Test, ...[command, args, env = {}]: StartArguments) {
  const lines: string[] = []
  const events = new EventEmitter()
  const print = (line: unknown): void => {
    lines.push(String(line))
    events.emit('line')
  }
  const signal = once(events, 'signal').then(() => 'SIGTERM' as const)
  const main = program('main.js')
  const exit = runReplay(command, args, { env, console: { log: print, error: print }, ended: () => signal, main })
  const end = (): Promise<number> => {
    events.emit('signal')
    return exit
  }
  t.teardown(end)
  const text = (): string => lines.join('\n')
  /** The first match in the output. */
  const printed = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const found = pattern.exec(text())
      if (found) return found[1] ?? found[0]
      const code = await Promise.race([once(events, 'line').then(() => undefined), exit])
      if (code !== undefined) throw new Error(`ended early:\n${text()}`)
    }
  }
  return { exit, end, text, printed }
}

/** The exit code and the output of a command that ends by itself. */
export async function run(t: Test, ...given: StartArguments) {
  const { exit, text } = started(t, ...given)
  return { code: await exit, text: text() }
}

/** Recordings are made below the working folder. */
export function workingFolder(t: Test): string {
  const before = process.cwd()
  const folder = t.testdir({})
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  return folder
}

export const hashQuery = `user_api_hash=${encodeURIComponent(hashOf('acme'))}`
