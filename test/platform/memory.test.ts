/** With a heap of 256 MB, no size or number of platform responses ends the process, and other accounts are served meanwhile. */
import { execFileSync } from 'node:child_process'
import type { RequestListener, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t from 'tap'
import { type Bodies, platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'
import { until } from '../redis.js'
import { historyOf } from './faulty.js'

const bodies: Bodies = {}
const { url } = await platform(t, bodies)
const env = { PLATFORM_URL: url, ACCOUNT_TTL_MS: '600000', POSITION_TTL_MS: '600000', PLATFORM_TIMEOUT_MS: '60000' }
const smallHeap = '--max-old-space-size=256'
const child = await gatewayProcess(t, { ...env, NODE_OPTIONS: smallHeap })
const statusOf = async (path: string, hash = someHash) => (await child.get(`/v1/${path}`, hash)).status
const hashOf = (name: string): string => someHash.replace('ab', name)

/** A document of 60 MB, which is not held. */
const long = ['{"items":{"geofences":[', ...Array(60).fill(Buffer.from(`"${'x'.repeat(2 ** 20)}",`)), '""]}}']

t.test('histories of 100,000 points and documents of 60 MB, many at once', async (t) => {
  bodies.get_devices = [{ title: 'A', items: [{ id: 7, name: 'Van' }] }]
  // Points of the recorded size.
  bodies.get_history = JSON.stringify(historyOf(100_000, { altitude: 400, course: 12, other: 'x'.repeat(60) }))
  bodies.get_geofences = (_: unknown, response: ServerResponse) => Readable.from(long).pipe(response)
  const other = hashOf('zz')
  t.equal(await statusOf('devices/7', other), 200)
  const history = (name: string) => statusOf('history/7?from=2026-05-11&to=2026-05-12', hashOf(name))
  t.equal(await history('a0'), 200, 'one is served')
  const names = Array.from({ length: 4 }, (_, at) => `b${at}`)
  const atOnce = await Promise.all(names.flatMap((name) => [history(name), statusOf('geofences', hashOf(name))]))
  for (const status of atOnce) t.ok(status === 200 || status === 503, `${status}`)
  t.equal(await statusOf('devices/7', other), 200, 'another account is served')
  t.equal(await history('a1'), 200, 'and so is a long history afterwards')
  t.equal((await fetch(`${child.url}/health`)).status, 200)
})

t.test('lists that take more memory than their rows end no process, and smaller ones are served', async (t) => {
  const numbered = <T>(count: number, row: T) => Array.from({ length: count }, (_, at) => ({ id: at + 1, ...row }))
  const otherHash = hashOf('g2')
  const sensors = numbered(1_000, { type: 'textual', name: 'Temperature', value: '21.5 C' })
  const services = numbered(10_000, { name: 'S', expiration_by: 'odometer' })
  bodies.get_devices = JSON.stringify([{ title: 'B', items: numbered(300, { name: 'Van', sensors }) }])
  bodies.get_services = JSON.stringify({ data: services })
  t.equal(await statusOf('devices?limit=300', otherHash), 503, '300,000 sensors')
  t.equal(await statusOf('devices?limit=10', otherHash), 200)
  t.equal(await statusOf('services?limit=1', otherHash), 503, 'a call for each device, and 3 million services')
  const pages = Array.from({ length: 14 }, (_, page) => {
    const data = Array.from({ length: 1_000 }, (_, at) => ({ id: 1_000 * page + at, message: 'm'.repeat(1_000) }))
    return JSON.stringify({ items: { current_page: page + 1, per_page: 1_000, last_page: 14, data } })
  })
  const get_events: RequestListener = ({ url = '' }, response) =>
    response.end(pages[Number(new URL(url, 'http://x').searchParams.get('page')) - 1])
  Object.assign(bodies, {
    get_events,
    get_devices: JSON.stringify([{ title: 'A', items: numbered(3_000, { name: 'Van' }) }]),
    get_alerts: { status: 1, items: { alerts: numbered(800, { name: 'A', for_all_user_devices: 1 }) } },
    get_geofences: JSON.stringify({ items: { geofences: numbered(30_000, { name: 'G', radius: 5 }) } }),
    get_user_drivers: JSON.stringify({ items: { drivers: { data: numbered(40_000, { name: 'D' }) } } }),
    services: JSON.stringify({ data: [services, services, services, services].flat() }),
  })
  t.equal(await statusOf('alerts'), 503, '2.4 million devices')
  t.equal(await statusOf('alerts?limit=5'), 200)
  const search = (minute: number) => statusOf(`events?type=harsh_braking&from=2026-05-12T08:${minute}`)
  const found = await Promise.all(Array.from({ length: 10 }, (_, at) => search(at + 10)))
  t.same(new Set(found), new Set([503]), '10 searches of 14 pages each')
  t.equal(await statusOf('events?limit=5'), 200)
  const all: number[] = []
  for (const path of ['geofences', 'drivers', 'services']) {
    const statuses = await Promise.all(Array.from({ length: 15 }, () => statusOf(path)))
    t.ok(statuses.includes(200), path)
    all.push(...statuses)
    t.equal(await statusOf(path), 200, `${path}: there is room again`)
  }
  t.same(new Set(all), new Set([200, 503]), 'those without room are refused')
})

t.test('a list of very many numbers in place of records ends no process', async (t) => {
  const hash = hashOf('m1')
  bodies.get_devices = []
  const ones = `1${',1'.repeat(3_500_000)}`
  for (const list of [`[${ones}]`, `"[${ones}]"`]) {
    bodies.get_geofences = `{"items":{"geofences":[{"id":1,"coordinates":${list}}]}}`
    t.equal(await statusOf('geofences', hash), 503)
  }
  bodies.get_geofences = `{"items":{"geofences":[{"id":1,"coordinates":[1${',1'.repeat(400_000)}]}]}}`
  t.equal(await statusOf('geofences', hash), 200, 'one that is no shape is served without it')
})

t.test('rows that wait for the settings of their account end no process', async (t) => {
  const held: ServerResponse[] = []
  const service = { device_id: 1, expiration_by: 'days', name: 's'.repeat(1_000) }
  bodies.get_devices = [{ items: [{ id: 1, time: '2026-05-11 10:00:00', timestamp: 1778501007 }] }]
  bodies.services = JSON.stringify({ data: Array.from({ length: 6_000 }, (_, at) => ({ id: at + 1, ...service })) })
  bodies.edit_setup_data = (_: unknown, response: ServerResponse) => held.push(response)
  const waiting: Promise<number>[] = []
  for (let at = 10; at < 70; at += 1) {
    const before = held.length
    const status = statusOf('services?limit=1', hashOf(`${at}`))
    waiting.push(status)
    let isOver = false
    const over = status.then(() => {
      isOver = true
    })
    await Promise.race([over, until(() => isOver || held.length > before)])
  }
  for (const response of held) response.end('{"item":{"timezone_id":57}}')
  t.same(new Set(await Promise.all(waiting)), new Set([200, 503]))
  bodies.edit_setup_data = { item: { timezone_id: 57 } }
  t.equal(await statusOf('services?limit=1', hashOf('75')), 200)
})

t.test('long device names that other lists repeat in 10,000 rows end no process', async (t) => {
  const named = Array.from({ length: 200 }, (_, at) => ({ id: at + 1, name: 'n'.repeat(100_000) }))
  const rows = Array.from({ length: 10_000 }, (_, at) => ({ id: at + 1, device_id: 1 + (at % 200) }))
  bodies.get_devices = JSON.stringify([{ items: named }])
  for (const action of ['get_events', 'get_user_drivers', 'services'] as const)
    bodies[action] = JSON.stringify({ data: rows })
  const hash = hashOf('n1')
  t.equal(await statusOf('drivers', hash), 503)
  t.equal(await statusOf('services', hash), 503)
  t.equal(await statusOf('events?type=other&limit=1', hash), 200)
  t.equal(await statusOf('drivers?limit=10', hash), 200)
})

t.test('the devices of however many accounts take at most half of the heap', async (t) => {
  const named = Array.from({ length: 40 }, (_, at) => ({ id: at + 1, name: 'n'.repeat(100_000) }))
  bodies.get_devices = JSON.stringify([{ items: named }])
  const names = Array.from({ length: 90 }, (_, at) => `${at + 10}`)
  for (const name of names) t.equal(await statusOf('devices?limit=1', hashOf(name)), 200)
  const metrics = await (await fetch(`${child.opsUrl}/metrics`)).text()
  t.match(metrics, /^gateway_positions_evictions_total [1-9]/m)
  // The young generation, which is part of it, is larger in newer releases of Node.
  const heapBytes = execFileSync(process.execPath, [smallHeap, '-p', 'v8.getHeapStatistics().heap_size_limit'])
  t.ok(Number(/^gateway_positions_bytes (\d+)/m.exec(metrics)?.[1]) <= Number(heapBytes) / 2)
})
