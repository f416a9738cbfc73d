/** Random bytes and broken HTTP framing on real connections to a real process: it lives, never sends a 500, and every response is documented. */
import { once } from 'node:events'
import { connect } from 'node:net'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { errorTable } from '../../src/errors.js'
import { isLong } from '../faults.js'
import { gatewayProcess } from '../process.js'
import { type RawResponse, responsesIn } from './raw.js'

const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)
const runs = isLong ? 20_000 : 600
const connectionsAtOnce = 20
/** A response that takes longer than this is missing. */
const patienceMs = 30_000

interface Case {
  bytes: Buffer
  /** Where the bytes are cut into two packets. */
  cutAt: number
  ending: 'half-close' | 'reset'
}

/** One of the texts, which `|` separates. */
const oneOf = (...texts: string[]) => fc.constantFrom(...texts.flatMap((text) => text.split('|')))

const method = oneOf('GET|POST|HEAD|DELETE|OPTIONS|TRACE|PROPFIND|CONNECT|PUT|get|G\u00c9T|')
const target = oneOf(
  '/api/v1/devices|/api/v1/devices?limit=1|/api/v1/keys|/api/health|/api/docs|/|*|a:1||/\u00e9',
  'http://other.example/api/v1/me|//api//v1|/api/v1/devices/%00|/x%zz|/api/v1/%2e%2e/me',
  `/api/${'a'.repeat(5_000)}|/api/v1/devices?${'b=1&'.repeat(900)}`,
)
const version = oneOf('HTTP/1.1|HTTP/1.0|HTTP/2.0|HTTP/1.1 |HTTP/9|')
const header = oneOf(
  'Host: a.example|Host: b.example|Host:|Authorization: Bearer demo|Authorization: Bearer x y',
  `Authorization: Bearer x${' '.repeat(9_000)}y|Authorization: Basic Zm9v|X-Long: ${'y'.repeat(17_000)}`,
  'Content-Length: 5|Content-Length: 7|Content-Length: -1|Content-Length: 5, 5|Content-Length: 0x5',
  'Content-Length: 99999999999999999999|Transfer-Encoding: chunked|Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding : chunked|Transfer-Encoding: x|Expect: 100-continue|Expect: 200-maybe|TE: trailers',
  'Connection: upgrade|Upgrade: websocket|Connection: close|Proxy-Connection: keep-alive|Cookie: a=b',
  'Content-Type: application/json|Content-Type: text/plain|X-Request-Id: a b| folded: line|no colon',
  '\u0000: \u0000|X-Forwarded-For: 1.1.1.1|Forwarded: for=unknown|Range: bytes=0-1|If-None-Match: *',
  'Accept-Encoding: br;q=0, *',
)
const body = oneOf(`|{}|{"platform_hash":"x"}|5\r\nhello\r\n0\r\n\r\n|zz\r\n|0\r\n\r\n|5\r\nhel|${'\u0000'.repeat(99)}`)
const lineEnd = fc.constantFrom('\r\n', '\r\n', '\r\n', '\n', '\r')

const request = fc
  .record({ method, target, version, headers: fc.array(header, { maxLength: 6 }), body, lineEnd })
  .map(({ method, target, version, headers, body, lineEnd }) =>
    Buffer.from(`${[`${method} ${target} ${version}`, ...headers, '', ''].join(lineEnd)}${body}`, 'latin1'),
  )
const me = 'GET /api/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo\r\n'
const tunnel = 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n'
/** These are good up to some byte, so that they get past the parser. */
const good = fc.constantFrom(
  tunnel,
  `${me}\r\n`,
  `${me}\r\n`.repeat(20),
  `${me}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
  `${me}Expect: a-miracle\r\n\r\n`,
  'POST /api/v1/keys HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 21\r\n\r\n{"platform_hash":"x"}',
  'GET /api/v1/devices/1001/location HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo\r\n\r\n'.repeat(3),
)
const mutated = fc.record({ text: good, at: fc.nat(400), byte: fc.nat(255) }).map(({ text, at, byte }) => {
  const bytes = Buffer.from(text)
  bytes[at % bytes.length] = byte
  return bytes
})
/** Any path and query, as a client sends them. */
const anyTarget = fc
  .record({
    base: oneOf('/v1/devices|/v1/devices/1001|/v1/devices/1001/location|/health|/|'),
    path: fc.webPath(),
    query: fc.webQueryParameters(),
    credential: oneOf('Authorization: Bearer demo\r\n|Authorization: Bearer wrong\r\n|'),
  })
  .map(({ base, path, query, credential }) =>
    Buffer.from(`GET /api${base}${path}?${query} HTTP/1.1\r\nHost: a\r\n${credential}\r\n`),
  )
const noise = fc.uint8Array({ minLength: 1, maxLength: 2_000, size: 'max' }).map((bytes) => Buffer.from(bytes))

const cases: fc.Arbitrary<Case> = fc
  .record({
    parts: fc.array(fc.oneof(request, mutated, noise, anyTarget), { minLength: 1, maxLength: 4 }),
    cut: fc.double({ min: 0, max: 1, noNaN: true }),
    ending: fc.constantFrom('half-close' as const, 'half-close' as const, 'reset' as const),
  })
  .map(({ parts, cut, ending }) => {
    const bytes = Buffer.concat(parts)
    return { bytes, cutAt: Math.floor(cut * bytes.length), ending }
  })

/** Connections that are reset at once. A tunnel whose client is gone can end a process. */
const resets = (count: number, ...texts: string[]): Case[] =>
  Array.from({ length: count }, (_, at) => ({
    bytes: Buffer.from(texts[at % texts.length] ?? ''),
    cutAt: 0,
    ending: 'reset',
  }))

/** Sends a case and returns all that comes back until the gateway closes the connection. */
async function sent(port: number, { bytes, cutAt, ending }: Case): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  const received: Buffer[] = []
  // A gateway that closes while bytes are still sent resets the connection. What came before counts.
  socket.on('data', (chunk) => received.push(chunk)).on('error', () => {})
  const closed = new Promise((close, missing) => {
    socket.once('close', close)
    socket.setTimeout(patienceMs, () => missing(new Error('no response')))
  })
  await once(socket, 'connect')
  socket.write(bytes.subarray(0, cutAt))
  setImmediate(() => {
    if (ending === 'reset') socket.write(bytes.subarray(cutAt), () => socket.resetAndDestroy())
    else socket.end(bytes.subarray(cutAt))
  })
  await closed
  return Buffer.concat(received).toString('latin1')
}

const documented = new Set<number>([200, 302, 304, 308, ...Object.values(errorTable).map(([status]) => status)])

const headers = 'ratelimit-limit ratelimit-remaining ratelimit-reset x-request-id x-content-type-options'.split(' ')

/** What is wrong with a response; undefined when nothing is. */
function fault({ status, headers: sent, body }: RawResponse): string | undefined {
  if (status === 100) return undefined
  if (status === 500 || !documented.has(status)) return `status ${status}`
  const missing = headers.find((name) => !sent.has(name))
  if (missing !== undefined) return `${status} without ${missing}`
  if (status < 400 || body === '') return undefined
  const { error, message } = JSON.parse(body)
  const isDocumented = error in errorTable && errorTable[error as keyof typeof errorTable][0] === status && message
  return isDocumented ? undefined : `${status} ${body}`
}

async function run(t: Test, port: number, sample: Case[]): Promise<number> {
  let responses = 0
  const queue = sample.entries()
  const worker = async (): Promise<void> => {
    for (const [at, one] of queue) {
      const text = await sent(port, one)
      const found = one.ending === 'reset' ? [] : responsesIn(text, /HEAD /i.test(one.bytes.toString('latin1')))
      responses += found.length
      const wrong = found.map(fault).find((text) => text !== undefined)
      if (wrong !== undefined)
        t.fail(`case ${at} of seed ${seed}: ${wrong}`, { request: one.bytes.toString('latin1').slice(0, 500) })
    }
  }
  await Promise.all(Array.from({ length: connectionsAtOnce }, worker))
  return responses
}

t.test('no bytes on a connection end the process or bring a 500, and every response is documented', async (t) => {
  t.comment(`seed ${seed}, ${runs} connections: repeat with SEED=${seed}`)
  const gateway = await gatewayProcess(t)
  const responses = await run(t, gateway.port, fc.sample(cases, { numRuns: runs, seed }))
  t.ok(responses > runs / 2, `${responses} responses`)
  await run(t, gateway.port, resets(runs, tunnel))
  await run(t, gateway.port, resets(runs / 2, `${me}\r\n`.repeat(20), ''))
  const opsPort = Number(new URL(gateway.opsUrl).port)
  await run(t, opsPort, resets(runs / 3, tunnel, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n', 'not HTTP\r\n\r\n'))
  t.match(await gateway.metrics(), /^gateway_requests_total/m)
  t.equal((await gateway.get('/v1/me')).status, 200, 'the process lives')
  t.notMatch(gateway.log, /"level":"(error|fatal)"|"status":500/, 'nothing is logged as a failure of the gateway')
  t.notMatch(gateway.log, /"stack"/)
})
