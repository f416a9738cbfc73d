/** A platform whose behaviour a test changes, and a gateway or a client on it. */
import type { RequestListener } from 'node:http'
import type { Test } from 'tap'
import { Account } from '../../src/platform/account.js'
import type { CallReport, Platform, PlatformOptions } from '../../src/platform/client.js'
import { answers, type Bodies, Clock, gatewayOn, platform, platformClient, someHash } from '../helper.js'
import { until } from '../redis.js'

const position = { time: '2026-05-12 09:00:00', timestamp: 1_778_576_400, lat: 1, lng: 2 }
export const device = { id: 7, name: 'Van 7', online: 'ack', ...position }
export const well: Bodies = { get_devices: [{ items: [device] }] }

/** Rows for each action. */
export const sound: Bodies = {
  edit_setup_data: { item: { timezone_id: '61' }, timezones: [{ id: 61, value: 'UTC +01:00' }] },
  get_devices: [{ title: 'A', items: [device, { ...device, id: 8 }] }],
  get_geofences: { items: { geofences: [{ id: 5, name: 'Depot', type: 'circle', radius: 9 }] } },
  get_events: { items: { events: { data: [{ id: 3, time: '2026-05-12 08:00:00' }], total: 1, per_page: 50 } } },
  get_history: {
    items: [{ status: 1, items: [{ latitude: 1, longitude: 2, raw_time: '2026-05-01 08:00:00' }] }],
    distance_sum: '3 km',
  },
  get_alerts: { items: { alerts: [{ id: 4, type: 'sos', devices: [7] }] } },
  services: { services: { data: [{ id: 8, expiration_by: 'days', interval: 9 }], total: 1, per_page: 15 } },
  get_user_drivers: { items: { drivers: { data: [{ id: 9, name: 'Jo' }], total: 1 } } },
}

/** A time of a platform, so many seconds after 11 May 2026 began. */
export const stamp = (seconds: number): string =>
  new Date(Date.UTC(2026, 4, 11) + seconds * 1_000).toISOString().slice(0, 19).replace('T', ' ')

/** A history of a drive, with a point for each second from `stamp(0)` on. */
export function historyOf(count: number, more: object = {}) {
  const place = (at: number) => ({ lat: 40 + at / 1e5, lng: 2, speed: 30 })
  const items = Array.from({ length: count }, (_, at) => ({ id: at + 1, raw_time: stamp(at), ...place(at), ...more }))
  return { items: [{ status: 1, items }], status: 1 }
}

/** What keeps a socket for long, or fails at once. */
export const hangs: RequestListener = () => {}
export const resets: RequestListener = ({ socket }) => void socket.resetAndDestroy()
export const sends =
  (body: string, status = 200): RequestListener =>
  (_request, response) =>
    void response.writeHead(status).end(body)
/** Sends what is made of the parameters of a request, as JSON. */
export const sendsBy =
  (bodyOf: (query: URLSearchParams) => unknown): RequestListener =>
  ({ url = '' }, response) =>
    void response.end(JSON.stringify(bodyOf(new URL(url, 'http://x').searchParams)))

export const pageIn = (query: URLSearchParams): number => Number(query.get('page') ?? 1)

export const page = sends('<!doctype html><h1>Back soon</h1>')

/** A long body, slowly. */
export const trickles: RequestListener = (_request, response) => {
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const timer = setInterval(() => response.write(chunk), 50)
  response.on('close', () => clearInterval(timer))
}
/** A body that never ends after `start`, as fast as it is read. */
export const endless =
  (start: string, onMegabyte = () => {}): RequestListener =>
  (_request, response) => {
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const send = (): void => {
      do onMegabyte()
      while (!response.destroyed && response.write(chunk))
      if (!response.destroyed) response.once('drain', send)
    }
    response.write(start)
    send()
  }

/** A client of a platform of a few lines, and how its calls have ended. */
export async function clientOn(t: Test, answer: RequestListener | Bodies, options: Partial<PlatformOptions> = {}) {
  const { url, calls } = await platform(t, answer)
  const outcomes: string[] = []
  const onCall = ({ outcome }: CallReport): void => void outcomes.push(outcome)
  return { calls, outcomes, platform: platformClient(t, url, { onCall, ...options }) }
}

export const accountOn = (platform: Platform, hash = someHash, id = hash.slice(-2)): Account =>
  new Account(platform, hash, { id, email: null }, () => {})

/** For a platform that hangs. Only there: on a busy machine even a sound response may exceed this deadline. */
export const impatient = { PLATFORM_TIMEOUT_MS: '300' }

/** A platform whose behaviour the test changes, and a gateway on it that has no fresh position for any request. */
export async function faulty(t: Test, more: Record<string, string> = {}) {
  let behave = answers(well)
  const [clock, ticks] = [new Clock(), new Clock(0)]
  const env = { POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '600000', ...more }
  const on = await gatewayOn(t, { clock: clock.now, ticks: ticks.now, env }, (...call) => behave(...call))
  const { get } = on
  /** After the cool-down of the breaker. An impatient gateway may need several requests. */
  const works = (account = someHash): Promise<void> =>
    until(async () => {
      clock.advance(2)
      ticks.advance(10_000)
      return (await get('/v1/devices', account)).status === 200
    })
  await works()
  const become = (answer: RequestListener | Bodies): void => {
    behave = typeof answer === 'function' ? answer : answers(answer)
  }
  /** All devices of an account, or one. */
  const devicesOf = (account = someHash, device?: number) => {
    clock.advance(2)
    return get(device === undefined ? '/v1/devices' : `/v1/devices/${device}`, account)
  }
  return { ...on, ticks, works, clock, become, devicesOf }
}
