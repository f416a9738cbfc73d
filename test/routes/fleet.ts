/** A gateway on a sandbox, for the tests of routes. */
import { Clock, gateway, sandbox, type Test } from '../helper.js'

export const clock = new Clock(Date.UTC(2026, 4, 12, 9, 30))

/** The sandbox has several accounts: `hash` and `id` are the credential and first device of one, the others of another. */
export async function fleet(t: Test, devices = 6) {
  const { url, hashes, accounts, calls } = await sandbox(t, { clock: clock.now, devices })
  const { get } = await gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } })
  const [hash = '', otherHash = ''] = hashes
  const [id = 0, foreignId = 0] = accounts.map(({ firstDeviceId }) => firstDeviceId)
  return { get, hash, otherHash, calls, id, foreignId }
}

/** The ids of a list or of a feature collection. */
export const idsOf = ({ data, features = data }: Record<'data' | 'features', { id: number }[]>): number[] =>
  features.map(({ id }) => id)

const metresPerDegree = 111_195

/** Metres between two neighbouring positions, approximately. */
export function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const [dy, dx] = [b.lat - a.lat, (b.lng - a.lng) * Math.cos((a.lat * Math.PI) / 180)]
  return Math.hypot(dx, dy) * metresPerDegree
}
