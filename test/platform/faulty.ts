/** A platform whose behaviour a test changes, and a gateway on it. */
import type { RequestListener } from 'node:http'
import type { Test } from 'tap'
import { answers, Clock, gateway, platform, someHash } from '../helper.js'
import { until } from '../redis.js'

const position = { time: '2026-05-12 09:00:00', timestamp: 1_778_576_400, lat: 1, lng: 2 }
export const device = { id: 7, name: 'Van 7', online: 'ack', ...position }
export const well = answers({ get_devices: [{ items: [device] }] })

/** A platform whose behaviour the test changes, and a gateway on it that has no fresh position for any request. */
export async function faulty(t: Test, env: Record<string, string> = {}) {
  let behave: RequestListener = well
  const { url, calls, server } = await platform(t, (request, response) => behave(request, response))
  const [clock, ticks] = [new Clock(), new Clock(0)]
  const settings = { PLATFORM_URL: url, PLATFORM_TIMEOUT_MS: '300', POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '600000' }
  const { get, log, metrics } = await gateway(t, { clock: clock.now, ticks: ticks.now, env: { ...settings, ...env } })
  /** After the cool-down of the breaker; until then, on a busy machine, even a sound response may exceed the deadline. */
  const works = (account = someHash): Promise<void> =>
    until(async () => {
      clock.advance(2)
      ticks.advance(10_000)
      return (await get('/v1/devices', account)).status === 200
    })
  await works()
  const become = (listener: RequestListener): void => {
    behave = listener
  }
  /** All devices of an account, or one. */
  const devicesOf = (account: string, device?: number) => {
    clock.advance(2)
    return get(device === undefined ? '/v1/devices' : `/v1/devices/${device}`, account)
  }
  const devices = () => devicesOf(someHash)
  return { ticks, works, calls, server, clock, get, log, metrics, become, devices, devicesOf }
}
