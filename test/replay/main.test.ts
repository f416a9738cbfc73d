/** The command lines of replay and record as processes: output and exit codes. */
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
  readonly exit: Promise<number | null>
  text = ''
  constructor(t: Test, args: string[], { cwd, env = {} }: { cwd?: string; env?: Record<string, string> } = {}) {
    this.#child = fork(join(program(), 'replay', 'main.js'), args, { ...plainly(env), ...(cwd ? { cwd } : {}) })
    this.exit = once(this.#child, 'exit').then(([code]) => code)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        this.text += chunk
      })
    }
    t.teardown(() => this.#child.kill('SIGTERM'))
  }

  /** The first match in its output. */
  async printed(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = pattern.exec(this.text)
      if (found) return found[1] ?? found[0]
      const more = once(this.#child.stdout as NodeJS.ReadableStream, 'data').then(() => true)
      if (!(await Promise.race([more, this.exit.then(() => false)]))) throw new Error(`ended early:\n${this.text}`)
    }
  }

  async end(): Promise<number | null> {
    this.#child.kill('SIGTERM')
    return this.exit
  }
}

const hashQuery = `user_api_hash=${encodeURIComponent(hashOf('acme'))}`

t.test('replay serves what was recorded, explains a miss, and with --strict a miss makes it exit with 1', async (t) => {
  const strict = new Command(t, [acme, '--port', '0', '--strict'])
  const url = await strict.printed(/listens on (\S+)/)
  t.equal((await fetch(`${url}/get_user_data?${hashQuery}`)).status, 200)
  const miss = await fetch(`${url}/get_history?${hashQuery}&device_id=999`)
  t.equal(miss.status, 501)
  t.match(await miss.json(), { nearest: {} })
  t.equal(await strict.end(), 1)
  const lenient = new Command(t, [acme, '--port', '0'])
  const other = await lenient.printed(/listens on (\S+)/)
  await fetch(`${other}/get_history?${hashQuery}&device_id=999`)
  t.equal(await lenient.end(), 0)
})

t.test('replay --gateway starts a gateway on the replay', async (t) => {
  const env = { PORT: '0', OPS_PORT: 'off', HOST: '127.0.0.1', DATA_DIR: join(t.testdir({}), 'data') }
  const command = new Command(t, [acme, '--port', '0', '--gateway'], { env })
  const url = await command.printed(/listening on (http:\/\/127\.0\.0\.1:\d+\/api)/)
  const response = await fetch(`${url}/v1/devices`, { headers: { authorization: `Bearer ${hashOf('acme')}` } })
  t.equal(response.status, 200)
  t.ok(((await response.json()) as { count: number }).count > 0)
  t.equal(await command.end(), 0)
})

t.test('replay --diff exits with 0 for equal gateways, and with 1 and the path for different ones', async (t) => {
  const clock = new Clock(Date.UTC(2026, 2, 14, 9, 30)).now
  const replay = new Command(t, [acme, '--port', '0'])
  const env = { PLATFORM_URL: await replay.printed(/listens on (\S+)/) }
  const [one, two, empty] = [
    await gateway(t, { env, clock }),
    await gateway(t, { env, clock }),
    await gateway(t, { env: { PLATFORM_URL: (await platform(t, answers({ get_devices: [] }))).url }, clock }),
  ]
  const alike = new Command(t, ['--diff', acme, one.url, two.url])
  t.equal(await alike.exit, 0, alike.text)
  const unlike = new Command(t, ['--diff', acme, one.url, empty.url])
  t.equal(await unlike.exit, 1)
  t.match(unlike.text, /\/v1\/devices.*count/)
})

t.test('record --update writes what the platform sends, and --check fails when its shape has changed', async (t) => {
  const cwd = t.testdir({})
  const { url, hashes } = await sandbox(t, { devices: 2 })
  const [hash = ''] = hashes
  const recording = new Command(t, ['record', '--platform', url, '--as', 'mine', '--port', '0', '--update'], { cwd })
  const proxy = await recording.printed(/ on (http:\S+)/)
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
  t.equal(await check(url, hash).exit, 0)
  const changed = await platform(t, answers({ get_devices: [], get_alerts: { items: { alerts: [] }, status: '1' } }))
  t.equal(await check(changed.url, someHash).exit, 1)
})

t.test('an invalid command line exits with 2 and a sentence', async (t) => {
  const wrong = new Command(t, ['--nonsense'])
  t.not(await wrong.exit, 0)
  t.match(wrong.text, 'nonsense')
  const nameless = new Command(t, ['record', '--platform', 'http://127.0.0.1:1/api'])
  t.equal(await nameless.exit, 2)
  t.match(nameless.text, '--as')
})
