/** The invented accounts of the sandbox: credentials, geofences, alerts, drivers and groups. */
import { type Area, moved, type Point } from './geometry.js'
import { between, roll } from './random.js'

/** `zoneSeconds` is how far the account's wall clock is ahead of UTC, `seed` that of everything its devices do. */
export type Account = ReturnType<typeof createAccount>
export type Geofence = Account['geofences'][number]
/**
 * `type` is the platform's word; `value` is km/h for `overspeed`, a change in km/h for `custom`, minutes for durations, 0 all, 1 on,
 * 2 off for `ignition`. The alert covers every nth device.
 */
export type Alert = Account['alerts'][number]
/** `index` is the position of the assigned device in its fleet. */
export type Driver = Account['drivers'][number]

/** Alerts cover the first devices only, so that a large fleet has a bounded number of events. */
export const maxAlertDevices = 200
const hashAlphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
/** Kilometres east and north of an account's center. */
const sites = { north: [0.4, 0.8], south: [4, -2.8], city: [1.6, 1.6], park: [-2.8, 2.4], airport: [6, 4.8] } as const
type Site = keyof typeof sites

export const siteAt = (center: Point, site: Site): Point => moved(center, 1000 * sites[site][0], 1000 * sites[site][1])

/** The accounts of a sandbox. The demo account comes first and has the given number of devices. */
export function createAccounts(seed: number, devices: number): [demo: Account, other: Account] {
  const demo = { userId: 31, email: 'fleet@example.com', plan: 'Fleet', devices, firstDeviceId: 1001 }
  const other = { userId: 32, email: 'depot@example.com', plan: 'Small fleet', devices: 12, firstDeviceId: 900_001 }
  return [
    createAccount(seed, 1, demo, { center: { lat: 40.4155, lng: -3.6938 }, altitude: 655, zoneSeconds: 3600 }),
    createAccount(seed, 2, other, { center: { lat: 41.0331, lng: 28.8146 }, altitude: 92, zoneSeconds: 10_800 }),
  ]
}

type Start = { userId: number; email: string; plan: string; devices: number; firstDeviceId: number }
type Place = { center: Point; altitude: number; zoneSeconds: number }

function createAccount(seed: number, number: number, start: Start, place: Place) {
  const base = number * 100
  return {
    ...start,
    ...place,
    hash: hashOf(seed, number),
    password: `sandbox-${between(100_000, 999_999, roll(seed, 6, number))}`,
    seed: Math.floor(roll(seed, 1, number) * 2 ** 31),
    geofences: createGeofences(place.center, base),
    alerts: createAlerts(base),
    drivers: createDrivers(seed, base, number === 1 ? 12 : 5),
    groups: [
      { id: 0, title: 'Ungrouped' },
      ...['North depot', 'South depot', 'Night shift'].map((title, n) => ({ id: base + 11 + n, title })),
    ],
  }
}

/** Shaped like bcrypt, always with `/` and `.`, the characters that a careless client forgets to encode. */
function hashOf(seed: number, number: number): string {
  const letters = Array.from({ length: 53 }, (_, place) => hashAlphabet[between(0, 63, roll(seed, 3, number, place))])
  letters[between(3, 20, roll(seed, 4, number))] = '/'
  letters[between(25, 45, roll(seed, 5, number))] = '.'
  return `$2y$10$${letters.join('')}`
}

function createGeofences(center: Point, base: number) {
  const circle = (site: Site, radius: number): Area => ({ center: siteAt(center, site), radius })
  const box = (site: Site, half: number): Area => {
    const middle = siteAt(center, site)
    return { southWest: moved(middle, -half, -half), northEast: moved(middle, half, half) }
  }
  const rows: [name: string, color: string, area: Area][] = [
    ['North depot', '#2e7d32', box('north', 230)],
    ['South depot', '#1565c0', box('south', 230)],
    ['City centre', '#d000df', circle('city', 1200)],
    ['Industrial park\t', '#ef6c00', box('park', 900)],
    ['Airport', '#00838f', circle('airport', 1500)],
    ['Old yard', '#c191c4', circle('south', 1000)],
  ]
  return rows.map(([name, color, area], n) => ({ id: base + 1 + n, name, color, area, active: name !== 'Old yard' }))
}

function createAlerts(base: number) {
  const standard = { active: true, value: 0, geofences: [] as number[], nth: 1 }
  const rows: [type: string, name: string, rest?: Partial<typeof standard>][] = [
    ['overspeed', 'Too fast', { value: 95 }],
    ['geofence_inout', 'Depots', { geofences: [base + 1, base + 2] }],
    ['geofence_in', 'City centre entered', { geofences: [base + 3], nth: 4 }],
    ['geofence_out', 'Left the airport', { geofences: [base + 5], nth: 7 }],
    ['ignition', 'Key on or off', { nth: 12 }],
    ['ignition', 'Key off', { value: 2, nth: 7, active: false }],
    ['sos', 'Panic button'],
    ['offline_duration', 'No data', { value: 30 }],
    ['idle_duration', 'Idling', { value: 8, nth: 3 }],
    ['stop_duration', 'Long stop', { value: 40, nth: 4 }],
    ['custom', 'Harsh braking', { value: -95 }],
    ['custom', 'Harsh acceleration', { value: 95, nth: 2 }],
  ]
  return rows.map(([type, name, rest], n) => ({ id: base + 51 + n, type, name, ...standard, ...rest }))
}

const firstNames = ['Ana', 'Bruno', 'Carla', 'Dario', 'Elena', 'Farid', 'Greta']
const lastNames = ['Ruiz Vela', 'Sanz', 'Otero', 'Lund', 'Amari']

/** One driver has no RFID code, one no phone, and the last two no device. */
function createDrivers(seed: number, base: number, count: number) {
  return Array.from({ length: count }, (_, n) => ({
    id: base + 81 + n,
    name: `${firstNames[(n + base) % firstNames.length]} ${lastNames[n % lastNames.length]}`,
    rfid: n === 4 ? '' : `00${between(0x10_00_00, 0xff_ff_ff, roll(seed, 12, base, n))}`,
    phone: n === 3 ? '' : `+34600000${base + n}`,
    index: n >= count - 2 ? undefined : 2 * n + 1,
  }))
}
