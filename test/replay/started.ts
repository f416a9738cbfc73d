/** The commands replay and record as processes, and a folder for them to work on. */
import { EventEmitter, once } from 'node:events'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { runReplay } from '../../src/replay/commands.js'
import { someHash } from '../helper.js'
import { program } from '../program.js'

export const acme = resolve('fixtures/acme')

type StartArguments = [command: 'replay' | 'record', args: string[], env?: Record<string, string>]

/** A command in this process: its output so far, the API base on which it listens, and its exit code. */
export function started(t: Test, ...[command, args, env = {}]: StartArguments) {
  const lines: string[] = []
  const events = new EventEmitter()
  const signal = once(events, 'signal').then(() => 'SIGTERM' as const)
  const listening = once(events, 'listening').then(([url]) => url as string)
  const print = (line: unknown): void => {
    lines.push(String(line))
    const [, url] = / on (http:\S+)/.exec(String(line)) ?? []
    if (url !== undefined) events.emit('listening', url)
  }
  const main = program('main.js')
  const serveOn = () => Promise.reject(new Error('a gateway needs a process of its own'))
  const console = { log: print, error: print }
  const exit = runReplay(command, args, { env, console, ended: () => signal, serveOn, main })
  const end = (): Promise<number> => {
    events.emit('signal')
    return exit
  }
  t.teardown(end)
  const text = (): string => lines.join('\n')
  const url = () => Promise.race([listening, exit.then(() => Promise.reject(new Error(`ended early:\n${text()}`)))])
  return { exit, end, text, url }
}

/** The exit code and the output of a command that ends by itself. */
export async function run(t: Test, ...given: StartArguments) {
  const { exit, text } = started(t, ...given)
  return { code: await exit, text: text() }
}

export const RECORD_SECRET = 'a secret'

/** `record` into `fixtures/mine`, and its result. */
export const record = (t: Test, platform: string, args: string[], env = {}) =>
  run(t, 'record', ['--platform', platform, '--as', 'mine', ...args], {
    PLATFORM_HASH: someHash,
    RECORD_SECRET,
    ...env,
  })

/** The folder of the recordings `mine`, below a new working folder. */
export function mine(t: Test): string {
  const before = process.cwd()
  const folder = t.testdir({})
  process.chdir(folder)
  t.teardown(() => process.chdir(before))
  return join(folder, 'fixtures', 'mine')
}
