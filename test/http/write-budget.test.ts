/** Responses that their clients do not read take bounded memory, and leave the other accounts theirs. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t from 'tap'
import { platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'
import { until } from '../redis.js'

/** More than the system buffers on the way to a client that does not read. */
const responseBytes = 8_000_000

const points = Array.from({ length: 100 }, (_, at) => ({
  id: at + 1,
  lat: 1,
  lng: 1,
  speed: 1,
  raw_time: `2026-05-12 07:${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`,
  address: 'x'.repeat(responseBytes / 100),
}))
const history = JSON.stringify({ items: [{ status: 1, items: points }], distance_sum: '3 Km', sensors: [] })
const path = '/v1/history/7?from=2026-05-12&to=2026-05-12'

t.test('with a heap of 256 MB, histories that nobody reads end nothing, and others are served', async (t) => {
  const get_devices = [{ title: 'A', items: [{ id: 7, name: 'Van' }] }]
  const geofences = Array.from({ length: 30_000 }, (_, at) => ({ id: at + 1 }))
  const get_geofences = JSON.stringify({ items: { geofences } })
  const { url: platformUrl } = await platform(t, { get_devices, get_history: history, get_geofences })
  const env = { PLATFORM_URL: platformUrl, ACCOUNT_TTL_MS: '600000', POSITION_TTL_MS: '600000' }
  const child = await gatewayProcess(t, { ...env, NODE_OPTIONS: '--max-old-space-size=256' })
  const sockets: Socket[] = []
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  /** Sends a request, and reads no more than the beginning of its response. */
  const statusUnread = async (hash: string): Promise<number> => {
    const socket = connect(child.port, '127.0.0.1').on('error', () => {})
    sockets.push(socket)
    socket.write(`GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hash}\r\n\r\n`)
    const [start] = await once(socket, 'data')
    socket.pause()
    const status = Number(/^HTTP\/1\.1 (\d+)/.exec(String(start))?.[1])
    t.equal(/^etag: /im.test(String(start)), status === 200, 'an error has no tag')
    return status
  }
  const usedBytes = () => child.metric('gateway_in_flight_bytes')
  const maxBytes = await child.metric('gateway_in_flight_max_bytes')
  const hashOf = (name: string): string => someHash.replace('ab', name)

  const statuses: number[] = []
  for (let at = 0; at < 10; at += 1) statuses.push(await statusUnread(hashOf('g1')))
  const served = statuses.filter((status) => status === 200).length
  t.ok(served >= 3, `${served} of 10 responses have room`)
  t.same(new Set(statuses.slice(served)), new Set([503]), 'further ones of the same account are refused')
  t.ok((await usedBytes()) <= maxBytes / 2)
  t.equal(await statusUnread(hashOf('g2')), 200, 'another account has room')
  const fences = async (hash: string) => (await child.get('/v1/geofences?limit=1', hash)).status
  t.equal(await fences(hashOf('g1')), 503, 'what the platform sends for an account counts with what it has not read')
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
