/** Responses that their clients do not read take bounded memory, and leave the other accounts theirs. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { installDeadlines } from '../../src/http/deadlines.js'
import type { Caller } from '../../src/http/types.js'
import { installWriteBudget } from '../../src/http/write-budget.js'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import type { Account } from '../../src/platform/account.js'
import { platform, someHash } from '../helper.js'
import { historyOf } from '../platform/faulty.js'
import { gatewayProcess } from '../process.js'
import { until } from '../redis.js'
import { bareApp, dial, untilClosed } from './raw.js'

/** More than the system buffers on the way to a client that does not read. */
const responseBytes = 8_000_000

const history = JSON.stringify(historyOf(100, { address: 'x'.repeat(responseBytes / 100) }))
const path = '/v1/history/7?from=2026-05-11&to=2026-05-11'

t.test('with a heap of 256 MB, histories that no client reads end no process, and others are served', async (t) => {
  const get_devices = [{ title: 'A', items: [{ id: 7, name: 'Van' }] }]
  const geofences = Array.from({ length: 30_000 }, (_, at) => ({ id: at + 1 }))
  const get_geofences = JSON.stringify({ items: { geofences } })
  const { url: platformUrl } = await platform(t, { get_devices, get_history: history, get_geofences })
  const env = { PLATFORM_URL: platformUrl, PLATFORM_TIMEOUT_MS: '60000', NODE_OPTIONS: '--max-old-space-size=256' }
  const child = await gatewayProcess(t, { ...env, ACCOUNT_TTL_MS: '600000', POSITION_TTL_MS: '600000' })
  const sockets: Socket[] = []
  /** Sends a request, and reads no more than the beginning of its response. */
  const statusUnread = async (hash: string): Promise<number> => {
    const socket = dial(t, child.url, `GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hash}\r\n\r\n`)
    sockets.push(socket)
    const [start] = await once(socket, 'data')
    socket.pause()
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(String(start))?.[1])
    t.equal(/^etag: /im.test(String(start)), status === 200, 'an error has no tag')
    return status
  }
  const usedBytes = () => child.metric('gateway_in_flight_bytes')
  const maxBytes = await child.metric('gateway_in_flight_max_bytes')
  const hashOf = (name: string): string => someHash.replace('ab', name)

  const fences = async (hash: string) => (await child.get('/v1/geofences?limit=1', hash)).status
  const statuses: number[] = []
  for (let at = 0; at < 10; at += 1) {
    statuses.push(await statusUnread(hashOf('g1')))
    // At once: a client that has read nothing for five seconds loses its room to the next request.
    if (statuses.indexOf(503) !== at) continue
    t.equal(await fences(hashOf('g1')), 503, 'what the platform sends for an account counts with what it has not read')
  }
  const served = statuses.filter((status) => status === 200).length
  t.ok(served >= 3, `${served} of 10 responses have room`)
  t.same(new Set(statuses.slice(served)), new Set([503]), 'further ones of the same account are refused')
  t.ok((await usedBytes()) <= maxBytes / 2)
  t.equal(await statusUnread(hashOf('g2')), 200, 'another account has room')
  t.equal(await fences(hashOf('g2')), 200)
  for (let at = 0; at < 10; at += 1) await statusUnread(hashOf('g2'))
  t.ok((await usedBytes()) <= maxBytes)

  t.equal((await child.get('/v1/devices/7', hashOf('g3'))).status, 200, 'small responses need no room')
  await until(async () => (await child.metric('gateway_connections_cut_total{reason="slow_reader"}')) > 0)
  const response = await child.get(path, hashOf('g3'))
  t.equal(response.status, 200, 'and large ones have room once the slowest readers are cut')
  t.ok(response.text.length > responseBytes)
  for (const socket of sockets) socket.destroy()
  await until(async () => (await usedBytes()) === 0)
  t.ok((await child.metric('gateway_in_flight_rejected_total')) >= 10 - served)
})

/** An app with a budget of 20 MB, of which one response takes half, and clients that read no more than the beginning. */
async function budgeted(t: Test, ticks: () => number, isReady?: Promise<void>) {
  const budget = new ByteBudget(20_000_000)
  const { app, connections } = bareApp(t, ticks)
  app.decorateRequest('account')
  app.decorateRequest('caller')
  app.addHook('onRequest', async (request) => {
    const { credential, id } = request.query as { credential: Caller['credential']; id: string }
    request.account = { id } as Account
    request.caller = { credential, key: null }
  })
  installDeadlines(app, connections, budget, ticks)
  installWriteBudget(app, budget, connections, ticks)
  app.get('/:bytes', async ({ params }, reply) => {
    await isReady
    return reply.send(Buffer.alloc(Number((params as { bytes: string }).bytes)))
  })
  const url = await app.listen({ host: '0.0.0.0', port: 0 })
  const client = async (localAddress = '127.0.0.1'): Promise<Socket> => {
    const socket = dial(t, url, '', { localAddress })
    await once(socket, 'connect')
    return socket
  }
  const status = async (socket: Socket, credential: Caller['credential'], id: string, bytes = 10_000_000) => {
    socket.write(`GET /${bytes}?credential=${credential}&id=${id} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    const [start] = await once(socket, 'data')
    socket.pause()
    return Number(/^HTTP\/1\.1 (\d+)/.exec(String(start))?.[1])
  }
  return { app, budget, client, status }
}

t.test('while memory is short, the slowest reader is disconnected, and no other once there is room', async (t) => {
  let now = 0
  const { budget, client, status } = await budgeted(t, () => now)
  const [first, second] = [await client(), await client()]
  t.equal(await status(second, 'api_key', 'a'), 200)
  now = 1_000
  t.equal(await status(first, 'api_key', 'b'), 200)
  now = 6_000
  await until(() => budget.usedBytes === 10_000_000)
  let bytes = 0
  first.on('data', (chunk: Buffer) => {
    bytes += chunk.length
  })
  await once(first.resume(), 'end')
  t.ok(bytes > 9_000_000, 'the other reads its response to the end')
  await until(() => budget.usedBytes === 0)
})

t.test('callers of the demo token share memory by address, all others by account', async (t) => {
  const { client, status } = await budgeted(t, () => 0)
  const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.1']
  for (const [credential, expected] of [
    ['demo', [200, 200, 503]],
    ['platform_hash', [200, 503, 503]],
  ] as const) {
    const sockets: Socket[] = []
    for (const [at, address] of addresses.entries()) {
      const socket = await client(address)
      sockets.push(socket)
      t.equal(await status(socket, credential, 'one'), expected[at], `${credential} from ${address}`)
    }
    t.equal(await status(await client(), credential, 'one', 16_383), 200, 'a small response needs no room')
    t.equal(await status(await client(), credential, 'one', 16_384), 503)
    for (const socket of sockets) socket.destroy()
  }
})

t.test('while the gateway closes, a client has ten seconds to read its response, which may begin late', async (t) => {
  let now = 0
  const { app, budget, client, status } = await budgeted(t, () => now)
  const [silent, late] = [await client(), await client()]
  await status(silent, 'api_key', 'a')
  const closed = app.close()
  await until(() => !app.server.listening)
  now = 3_000
  await status(late, 'api_key', 'b')
  t.equal(budget.usedBytes, 20_000_000)
  now = 10_001
  await until(() => budget.usedBytes === 10_000_000)
  t.ok((await untilClosed(late.resume())).length > 9_000_000)
  await closed
})

t.test('while the gateway closes, no client keeps it for longer than 19 seconds, however it reads', async (t) => {
  let [now, respond] = [0, () => {}]
  const isReady = new Promise<void>((resolve) => {
    respond = resolve
  })
  const { app, budget, client, status } = await budgeted(t, () => now, isReady)
  const arrived = once(app.server, 'request')
  const late = status(await client(), 'api_key', 'a')
  await arrived
  const closed = app.close()
  await until(() => !app.server.listening)
  now = 15_000
  respond()
  t.equal(await late, 200)
  t.equal(budget.usedBytes, 10_000_000)
  now = 19_001
  await until(() => budget.usedBytes === 0)
  await closed
})

t.test('while the gateway closes, a client has ten seconds to read small responses, too', async (t) => {
  let [now, checks] = [0, 0]
  const { app, client } = await budgeted(t, () => {
    checks += 1
    return now
  })
  const accepted = once(app.server, 'connection')
  const silent = await client()
  const [socket] = (await accepted) as [Socket]
  while (socket.writableLength === 0) {
    const { bytesWritten } = socket
    silent.write('GET /16000 HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(50))
    await until(() => socket.bytesWritten > bytesWritten + 50 * 16_000 || socket.writableLength > 0)
  }
  const closed = app.close()
  await until(() => !app.server.listening)
  now = 10_000
  const before = checks
  await until(() => checks > before + 1)
  t.notOk(socket.destroyed)
  now = 10_001
  await until(() => socket.destroyed)
  await closed
})

t.test('a client that never reads its response does not keep a process from ending by itself', async (t) => {
  const child = await gatewayProcess(t)
  const socket = dial(t, child.url).pause()
  await once(socket, 'connect')
  socket.write('GET /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(20))
  await until(() => child.log.includes('/api/docs/:name'))
  child.signal('SIGINT')
  t.equal(await child.exited, 0)
})
