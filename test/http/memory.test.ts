/** The memory that a connection takes, also while its request waits, whatever it sends. */
import type { Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { openOps } from '../../src/ops/listener.js'
import { usedBytes } from '../faults.js'
import { gateway, gatewayOn } from '../helper.js'
import { portOf, until } from '../redis.js'
import { bareApp, block, exchange, responsesIn, untilClosed } from './raw.js'

const count = 20
/** Each connection has 64 KiB; here, its client and the platform take as much. */
const maxKb = 128

type ToBytes = (n: number) => string

/** Sends requests, each on a connection of its own, which a server must read. @returns the memory that each of them takes, kB. */
async function kilobytes(t: Test, to: Server | URL, toBytes: ToBytes, isDone = () => true, times = count) {
  const port = to instanceof URL ? Number(to.port) : portOf(to)
  const sockets: Socket[] = []
  let sent = 0
  const isRead = () => to instanceof URL || sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0) === sent
  if (!(to instanceof URL)) to.on('connection', (socket) => sockets.push(socket))
  const before = usedBytes()
  for (let n = 0; n < times; n += 1) {
    const bytes = toBytes(n)
    sent += bytes.length
    const client = connect(port, '127.0.0.1', () => client.write(bytes))
    t.teardown(() => client.destroy())
  }
  await until(() => isRead() && isDone())
  return (usedBytes() - before) / 1024 / times
}

const head = (start: string, headers: string): string => `${start} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`

t.test('a connection whose request is served takes little memory', async (t) => {
  const { httpServer } = await gateway(t)
  const ofRequests = () => kilobytes(t, httpServer, () => head('GET /api/health', ''))
  // The first requests load code.
  await ofRequests()
  const kB = await ofRequests()
  t.ok(kB < maxKb / 4, `${kB} kB`)
})

t.test('a connection keeps no long Authorization header until its next request', async (t) => {
  const { get, httpServer } = await gateway(t)
  await get('/v1/me')
  // At times the engine keeps some 200 kB for itself, which is little for each of so many.
  const times = 200
  let written = 0
  httpServer.on('request', (_request, response) => response.once('close', () => (written += 1)))
  const kept = (spaces: number): Promise<number> => {
    const [bytes, all] = [head('GET /api/v1/me', `Authorization: Bearer${' '.repeat(spaces)}demo\r\n`), written + times]
    const [toBytes, isWritten] = [() => bytes, () => written === all]
    return kilobytes(t, httpServer, toBytes, isWritten, times)
  }
  await kept(1)
  const [short, long] = [await kept(1), await kept(15_000)]
  t.ok(long - short < 8, `${short} kB, ${long} kB`)
})

t.test('a body in chunks of one byte takes little memory', async (t) => {
  const { app } = bareApp(t)
  app.route({ method: ['GET', 'POST'], url: '/', preParsing: () => {}, handler: () => {} })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const chunks = '1\r\nx\r\n'.repeat(16_000)
  const start = (method: string): string => head(`${method} /`, 'Transfer-Encoding: chunked\r\n') + chunks
  const [get, post] = [start('GET'), start('POST')]
  const kB = await kilobytes(t, app.server, (n) => (n % 2 ? get : post))
  t.ok(kB < maxKb, `${kB} kB`)
})

t.test('the operations listener keeps no chunks of a body while it responds', async (t) => {
  let scrapes = 0
  const text = () => {
    scrapes += 1
    return new Promise<never>(() => {})
  }
  const metrics = { text, callers: { top: () => [] } }
  const { url, close } = await openOps({ host: '127.0.0.1', port: 0, metrics, isDraining: () => false })
  t.teardown(close)
  const bytes = head('GET /metrics', 'Transfer-Encoding: chunked\r\n') + '1\r\nx\r\n'.repeat(8_000)
  const [toBytes, isScraped] = [() => bytes, () => scrapes === count]
  const kB = await kilobytes(t, new URL(url), toBytes, isScraped)
  t.ok(kB < maxKb, `${kB} kB`)
})

const many = (length: number, toText: (n: number) => string): string =>
  Array.from({ length }, (_, n) => toText(n)).join('')

const hash = (n: number): string => `$2y$10$${n}`

/** A gateway whose platform validates no credential. */
async function hanging(t: Test): Promise<Server> {
  const { httpServer, server } = await gatewayOn(t, { get_user_data: () => {} })
  t.teardown(() => server.close().closeAllConnections())
  return httpServer
}

t.test('requests behind another are not kept after their connection is closed', async (t) => {
  const behind = head(
    'GET /api/v1/me',
    many(110, (n) => `${n}:y\r\n`),
  ).repeat(70)
  const first = (n: number): string => head('GET /api/v1/me', `Authorization: Bearer ${hash(n)}\r\n`)
  const kB = await kilobytes(t, await hanging(t), (n) => first(n) + behind)
  t.ok(kB < 3 * maxKb, `${kB} kB`)
})

t.test('of requests behind others that all connections send at once, most are not parsed', async (t) => {
  const { get, httpServer, url } = await gateway(t)
  await get('/health')
  const [connected, requests]: [unknown[], unknown[]] = [[], []]
  httpServer.on('connection', (socket) => connected.push(socket)).on('request', (request) => requests.push(request))
  const { port } = httpServer.address() as AddressInfo
  const clients = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'))
  await until(() => connected.length === clients.length)
  const start = 'GET /api/health'
  const bytes = head(start, '').repeat(63) + head(start, 'Connection: close\r\n')
  const ended = Promise.allSettled(clients.map((client) => untilClosed(client)))
  for (const client of clients) client.write(bytes)
  // So that the gateway reads all of them in one turn.
  block(100)
  await ended
  t.ok(requests.length < 3_000, `${requests.length} requests`)
  t.equal(responsesIn(await exchange(url, bytes)).length, 64, 'as many as before may wait afterwards')
})

t.test('unknown parameters and fields are not kept while a credential is validated', async (t) => {
  const httpServer = await hanging(t)
  const url = `GET /api/v1/devices?${many(1_500, (n) => `&a${n}`)}`
  let kB = await kilobytes(t, httpServer, (n) => head(url, `Authorization: Bearer ${hash(n)}\r\n`))
  t.ok(kB < maxKb, `${kB} kB`)
  kB = await kilobytes(t, httpServer, (n) => {
    const body = `{"platform_hash":"${hash(n + count)}","more":[0${',{}'.repeat(5_000)}]}`
    return head('POST /api/v1/keys', `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`) + body
  })
  t.ok(kB < maxKb, `${kB} kB`)
})
