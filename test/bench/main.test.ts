/** The benchmark as a whole: it runs, and nothing outlives it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { missingPrograms } from './processes.js'

const skip = missingPrograms().length > 0 && `NOT tested without ${missingPrograms()}`
if (skip && process.env.CI) throw new Error(skip)

/** The command lines of all processes that work below the folder, which may be gone by now. */
function processesIn(folder: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      if (!readlinkSync(`/proc/${pid}/cwd`).startsWith(folder)) return []
      return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')]
    } catch {
      return [] // no process, or one that has just ended
    }
  })
}

/** Runs one subject in a folder of its own, until it ends or is interrupted while nginx runs. */
async function ended(t: Test, subject: string, signal?: NodeJS.Signals): Promise<{ code: number; left: string[] }> {
  const folder = mkdtempSync(resolve('.tap/bench-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  cpSync('package.json', join(folder, 'package.json'))
  cpSync(join(import.meta.dirname, '../..'), join(folder, 'build'), { recursive: true })
  symlinkSync(resolve('dist'), join(folder, 'dist'))
  const args = [join(folder, 'build/test/bench/main.js'), '--quick', '--only', subject]
  const env = { ...process.env, TMPDIR: folder }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  const exit = once(child, 'exit')
  while (signal && !processesIn(folder).some((command) => command.startsWith('nginx: worker'))) {
    if (child.exitCode !== null) throw new Error('the benchmark ended before nginx started')
    await pause(200)
  }
  if (signal) child.kill(signal)
  const [code] = await exit
  return { code, left: processesIn(folder) }
}

t.test('nothing outlives a run, whether it ends by itself or is interrupted', { skip }, async (t) => {
  const [whole, interrupted] = await Promise.all([ended(t, 'start'), ended(t, 'page', 'SIGINT')])
  t.same([whole.code, interrupted.code], [0, 130])
  t.same([whole.left, interrupted.left], [[], []])
})

t.test('--help, an unknown option and an unknown subject print how to use it', async (t) => {
  const main = join(import.meta.dirname, 'main.js')
  const [help, wrong, unknown] = [['--help'], ['--fast'], ['--only', 'page', '--only', 'pages']].map((options) =>
    spawnSync(process.execPath, [main, ...options], { encoding: 'utf8' }),
  )
  t.match(help, { status: 0, stdout: /^npm run bench -- .*--only <subject> +location, page, /s })
  t.match(wrong, { status: 1, stdout: '', stderr: /^Unknown option '--fast'.*\n\nnpm run bench -- / })
  t.match(unknown, { status: 1, stdout: '', stderr: /^There is no subject pages\.\n\nnpm run bench -- / })
})
