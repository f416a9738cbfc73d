/** The log: the line of a request, bounded memory, and no lost line when a process ends under load. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createLogger } from '../../src/ops/log.js'
import { readableLine } from '../../src/ops/readable-line.js'
import { platform, someHash } from '../helper.js'
import { only } from '../only.js'
import { GatewayProcess, gatewayProcess } from '../process.js'
import { withEnv } from '../program.js'
import { redisServer, until, withoutRedis } from '../redis.js'

/** The ids of the requests in a log. @throws if a line is not JSON. */
function logged(log: string): Set<string> {
  const lines = log.trim().split('\n')
  return new Set(lines.map((line) => JSON.parse(line)).flatMap(({ msg, reqId }) => (msg === 'request' ? [reqId] : [])))
}

/** Ends a process by `end` while requests come, each with its own id: the log has all that got a response. @returns its exit code. */
async function endsUnderLoad(t: Test, child: GatewayProcess, end: () => Promise<void>): Promise<number | null> {
  const received = new Set<string>()
  let isStopped = false
  const lane = async (name: number): Promise<void> => {
    for (let n = 0; !isStopped; n += 1) {
      const id = `lane-${name}.${n}`
      try {
        await (await fetch(`${child.url}/health`, { headers: { 'x-request-id': id } })).text()
        received.add(id)
      } catch {}
      await pause(20)
    }
  }
  const lanes = Promise.all(Array.from({ length: 16 }, (_, name) => lane(name)))
  await until(() => received.size >= 200)
  await end()
  const code = await child.exited
  isStopped = true
  await lanes
  const lines = logged(child.log)
  const missing = [...received].filter((id) => !lines.has(id))
  t.same(missing, [], `of ${received.size} responses`)
  return code
}

t.test('a process that closes under load loses no line of its log', async (t) => {
  const child = await gatewayProcess(t)
  t.equal(await endsUnderLoad(t, child, async () => child.signal('SIGINT')), 0)
})

t.test('a second signal ends a process under load at once, and it loses no line of its log', async (t) => {
  const { url: PLATFORM_URL, calls } = await platform(t, () => {})
  const child = await gatewayProcess(t, { PLATFORM_URL })
  child.get('/v1/me', someHash).catch(() => {})
  await until(() => calls.length > 0)
  const end = async (): Promise<void> => {
    child.signal('SIGTERM')
    await until(() => child.log.includes('"closing"'))
    child.signal('SIGTERM')
    const signalled = performance.now()
    await child.exited
    t.ok(performance.now() - signalled < 4_500, 'it waits neither before closing nor for a request in flight')
  }
  t.equal(await endsUnderLoad(t, child, end), 1)
  t.match(child.log, /"level":"error".*"second SIGTERM, exiting"/)
})

t.test('a warning of the Redis client is a line of the log, and comes once', { skip: withoutRedis }, async (t) => {
  const server = await redisServer(t)
  await server.command('acl', 'setuser', 'default', '-info')
  const child = await gatewayProcess(t, { REDIS_URL: server.url })
  await server.command('client', 'kill', 'type', 'normal')
  await until(async () => /count\s+:2\s/.test(await server.command('acl', 'log')))
  await until(async () => (await child.metric('gateway_store_up')) === 1)
  child.signal('SIGINT')
  await child.exited
  logged(child.log)
  // A scrape during the second connection sees an outage, which is true.
  const warnings = child.log.split('\n').filter((line) => line.includes('"warn"') && !line.includes('outage begins'))
  t.match(warnings, only(/NOPERM/))
  t.equal(warnings.length, 1, child.log)
  const check = new GatewayProcess(t, ['check'], { REDIS_URL: server.url })
  await check.exited
  t.match(check.log, 'unknown: the ACL denies INFO')
  t.notMatch(check.log, 'enableReadyCheck', 'a command says it in its own words')
})

t.test('a log without a reader takes bounded memory, and dropped lines are counted', async (t) => {
  const dir = t.testdir({
    'flood.mjs': `
      const { createLogger } = await import(process.argv[2])
      let dropped = 0
      const logger = createLogger('info', { onDropped: (bytes) => { dropped += bytes } })
      for (let mb = 0; mb < 40; mb += 1) {
        for (let at = 0; at < 1_000; at += 1) logger.info('x'.repeat(1_000))
        await new Promise(setImmediate)
      }
      process.send({ dropped, held: process.memoryUsage().arrayBuffers })
    `,
  })
  const log = join(import.meta.dirname, '../../src/ops/log.js')
  const child = fork(join(dir, 'flood.mjs'), [log], withEnv({}))
  t.teardown(() => child.kill('SIGKILL'))
  const [{ dropped, held }] = await once(child, 'message')
  t.ok(dropped > 16_000_000, `${dropped} bytes dropped`)
  t.ok(held < 32_000_000, `${held} bytes held`)
})

/** A logger, and the lines it has written. */
function written(level: string) {
  const lines: string[] = []
  return { lines, logger: createLogger(level, { destination: { write: (line: string) => void lines.push(line) } }) }
}

t.test('the line of a request is one line of JSON, whatever a proxy forwards as an address', async (t) => {
  const odd = ['plain', '"', '\\', 'a\nb', '\u0000', '\u007f', '\u2028', 'é', '😀', '\ud800', '}{', '']
  for (const text of odd) {
    const { lines, logger } = written('info')
    const who = { error: 'invalid_token', account: 'a2CHfbAF-_', credential: 'api_key', key: 'k-1', ip: text }
    const line = { reqId: 'r:1.a', method: 'GET', route: '/api/v1/devices/:id', status: 401, ms: 0.1, ...who }
    logger.request(line)
    logger.info(line, 'request')
    const [own, usual] = lines.map((one) => ({ ...JSON.parse(one), time: undefined }))
    t.same(own, usual)
    for (const one of lines) t.match(one, /^[^\n]+\n$/)
    t.match(JSON.parse(lines[0] ?? '').time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
})

t.test('the line of a request leaves out undefined fields, and is not written below its level', async (t) => {
  const said = { reqId: 'r', method: 'GET', route: null, status: 404, ms: 1, ip: '::1' }
  const entry = { ...said, error: undefined, account: undefined, credential: undefined, key: undefined }
  const { lines, logger } = written('info')
  logger.request(entry)
  const { time, ...rest } = JSON.parse(lines[0] ?? '')
  t.same(rest, { level: 'info', ...said, msg: 'request' })
  const quiet = written('warn')
  quiet.logger.request(entry)
  t.same(quiet.lines, [])
})

t.test(
  'of an error the log shows what it is and why it came about, and nothing else that a library keeps with it',
  async (t) => {
    const { lines, logger } = written('info')
    const kept = {
      command: { name: 'auth', args: ['a-secret'] },
      headers: { authorization: 'a-secret' },
      code: 'ECONNRESET',
    }
    const cause = Object.assign(new Error('reset'), kept)
    logger.error({ err: Object.assign(new TypeError('failed', { cause }), { ...kept, code: 7 }) }, 'odd')
    logger.error({ err: 'a-secret' }, 'thrown text')
    const [error, text] = lines.map((line) => JSON.parse(line).err)
    t.match(error.stack, 'TypeError: failed\n')
    t.same(
      { ...error, stack: '' },
      {
        type: 'TypeError',
        message: 'failed',
        stack: '',
        cause: { type: 'Error', message: 'reset', code: 'ECONNRESET' },
      },
    )
    t.same(text, { type: 'string', message: 'not an Error' })
    t.notMatch(lines.join(), 'a-secret')
  },
)

t.test('on a terminal a line is readable, and no text controls the terminal', async (t) => {
  const { lines, logger } = written('info')
  logger.warn({ label: 'a\u001b[2J\u009b', word: 'b\u202ec\u2028d', reason: 'no way', n: 7 }, 'odd')
  t.match(
    readableLine(lines[0] ?? ''),
    /^\d\d:\d\d:\d\d warn {2}odd label="a\\u001b\[2J\ufffd" word="b\ufffdc\ufffdd" reason=no way n=7\n$/,
  )
  t.match(readableLine('{"level":"warn"}'), /warn/, 'also one without a message')
})
