/** The command lines of replay and record, as processes: what they print, and how they end. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { hashOf } from '../../src/replay/replay.js'
import { answers, Clock, gateway, platform, sandbox, someHash } from '../helper.js'
import { plainly, program } from '../program.js'

const acme = fileURLToPath(new URL('../../fixtures/acme', import.meta.url))

class Command {
  readonly #child: ChildProcess
  readonly ended: Promise<number | null>
  text = ''
  constructor(t: Test, args: string[], { cwd, env = {} }: { cwd?: string; env?: Record<string, string> } = {}) {
    this.#child = fork(join(program(), 'replay', 'main.js'), args, { ...plainly(env), ...(cwd ? { cwd } : {}) })
    this.ended = once(this.#child, 'exit').then(([code]) => code)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.text += chunk
      })
    }
    t.teardown(() => this.#child.kill('SIGTERM'))
  }

  /** The first match in what it prints. */
  async said(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.text)
      if (found) return found[1] ?? found[0]
      const more = once(this.#child.stdout as NodeJS.ReadableStream, 'data').then(() => true)
      if (!(await Promise.race([more, this.ended.then(() => false)]))) throw new Error(`ended early:\n${this.text}`)
    }
  }

  async end(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.ended
  }
}

const hashQuery = `user_api_hash=${encodeURIComponent(hashOf('acme'))}`

t.test('replay answers what was recorded, explains what was not, and --strict ends non-zero for it', async (t) => {
  const strict = new Command(t, [acme, '--port', '0', '--strict'])
  const url = await strict.said(/listens on (\S+)/)
  t.equal((await fetch(`${url}/get_user_data?${hashQuery}`)).status, 200)
  const miss = await fetch(`${url}/get_history?${hashQuery}&device_id=999`)
  t.equal(miss.status, 501)
  t.match(await miss.json(), { nearest: {} })
  t.equal(await strict.end(), 1)
  const lenient = new Command(t, [acme, '--port', '0'])
  const other = await lenient.said(/listens on (\S+)/)
  await fetch(`${other}/get_history?${hashQuery}&device_id=999`)
  t.equal(await lenient.end(), 0)
})

t.test('replay --gateway replays a folder through the whole chain by one command', async (t) => {
  const env = { PORT: '0', OPS_PORT: 'off', HOST: '127.0.0.1', DATA_DIR: join(t.testdir({}), 'data') }
  const command = new Command(t, [acme, '--port', '0', '--gateway'], { env })
  const url = await command.said(/listening on (http:\/\/127\.0\.0\.1:\d+\/api)/)
  const answer = await fetch(`${url}/v1/devices`, { headers: { authorization: `Bearer ${hashOf('acme')}` } })
  t.equal(answer.status, 200)
  t.ok(((await answer.json()) as { count: number }).count > 0)
  t.equal(await command.end(), 0)
})

t.test(
  'replay --diff ends 0 for gateways that answer alike and 1, with the place, for those that do not',
  async (t) => {
    const clock = new Clock(Date.UTC(2026, 2, 14, 9, 30)).now
    const replay = new Command(t, [acme, '--port', '0'])
    const env = { PLATFORM_URL: await replay.said(/listens on (\S+)/) }
    const [one, two, empty] = [
      await gateway(t, { env, clock }),
      await gateway(t, { env, clock }),
      await gateway(t, { env: { PLATFORM_URL: (await platform(t, answers({ get_devices: [] }))).url }, clock }),
    ]
    const alike = new Command(t, ['--diff', acme, one.url, two.url])
    t.equal(await alike.ended, 0, alike.text)
    const unlike = new Command(t, ['--diff', acme, one.url, empty.url])
    t.equal(await unlike.ended, 1)
    t.match(unlike.text, /\/v1\/devices.*count/)
  },
)

t.test(
  'record writes what the platform says with --update, and --check tells when its shape has changed',
  async (t) => {
    const cwd = t.testdir({})
    const { url, hashes } = await sandbox(t, { devices: 2 })
    const [hash = ''] = hashes
    const recording = new Command(t, ['record', '--platform', url, '--as', 'mine', '--port', '0', '--update'], { cwd })
    const proxy = await recording.said(/ on (http:\S+)/)
    for (const action of ['get_user_data', 'get_devices', 'get_alerts']) {
      t.equal((await fetch(`${proxy}/${action}?lang=en&user_api_hash=${encodeURIComponent(hash)}`)).status, 200)
    }
    t.equal((await fetch(`${proxy}/destroy_device?user_api_hash=${encodeURIComponent(hash)}`)).status, 405)
    t.equal(await recording.end(), 0)
    t.ok((await readdir(join(cwd, 'fixtures', 'mine'))).length >= 3)
    const check = (platformUrl: string, live: string) =>
      new Command(t, ['record', '--platform', platformUrl, '--as', 'mine', '--check'], {
        cwd,
        env: { PLATFORM_HASH: live },
      })
    t.equal(await check(url, hash).ended, 0)
    const changed = await platform(t, answers({ get_devices: [], get_alerts: { items: { alerts: [] }, status: '1' } }))
    t.equal(await check(changed.url, someHash).ended, 1)
  },
)

t.test('a command line that makes no sense ends 2 with a sentence', async (t) => {
  const wrong = new Command(t, ['--nonsense'])
  t.not(await wrong.ended, 0)
  t.match(wrong.text, 'nonsense')
  const nameless = new Command(t, ['record', '--platform', 'http://127.0.0.1:1/api'])
  t.equal(await nameless.ended, 2)
  t.match(nameless.text, '--as')
})
