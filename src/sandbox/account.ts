/** Pure: the invented accounts of the sandbox: who they are, where they are, what they have set up. */
import { type Area, type Point, round6 } from './geometry.js'
import { between, roll } from './random.js'
import { pointAt, type Region } from './roads.js'
import { depotArea } from './tour.js'

export type Geofence = { id: number; name: string; active: boolean; color: string; area: Area }
export type AlertType =
  | 'overspeed'
  | 'geofence_in'
  | 'geofence_out'
  | 'geofence_inout'
  | 'ignition'
  | 'sos'
  | 'offline_duration'
  | 'idle_duration'
  | 'stop_duration'
/** `value` is km/h for `overspeed`, minutes for durations, 0 all, 1 on, 2 off for `ignition`. It watches every nth vehicle. */
export type Alert = {
  id: number
  type: AlertType
  name: string
  active: boolean
  value: number
  geofences: number[]
  nth: number
}
export type Driver = { id: number; name: string; rfid: string; phone: string; index: number | undefined }

export type Account = {
  userId: number
  email: string
  hash: string
  plan: string
  devices: number
  firstId: number
  zoneSeconds: number
  region: Region
  geofences: Geofence[]
  alerts: Alert[]
  drivers: Driver[]
  groups: { id: number; title: string }[]
}

/** Alerts watch the first vehicles of a fleet only, so that the events of a large one stay countable. */
export const WATCHED = 200
const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The accounts of a sandbox; the first is the one for demonstrations and has as many devices as asked for. */
export function accountsOf(seed: number, devices: number): Account[] {
  const demo = { userId: 31, email: 'fleet@example.com', plan: 'Fleet', devices, firstId: 1001, zoneSeconds: 3600 }
  const other = { userId: 32, email: 'depot@example.com', plan: 'Small fleet', devices: 12, firstId: 900_001 }
  return [
    outfit(seed, 1, { ...demo, center: { lat: 40.4155, lng: -3.6938 }, altitude: 655 }),
    outfit(seed, 2, { ...other, zoneSeconds: 10_800, center: { lat: 41.0331, lng: 28.8146 }, altitude: 92 }),
  ]
}

type Start = Pick<Account, 'userId' | 'email' | 'plan' | 'devices' | 'firstId' | 'zoneSeconds'>

function outfit(seed: number, number: number, start: Start & { center: Point; altitude: number }): Account {
  const { center, altitude, ...rest } = start
  const regionSeed = Math.floor(roll(seed, 1, number) * 2 ** 31)
  const region = { seed: regionSeed, center, altitude, turn: roll(regionSeed, 2) }
  const base = number * 100
  return {
    ...rest,
    region,
    hash: hashOf(seed, number),
    geofences: geofencesOf(region, base),
    alerts: alertsOf(base),
    drivers: driversOf(region.seed, base, number === 1 ? 12 : 5),
    groups: [
      { id: base + 11, title: 'North depot' },
      { id: base + 12, title: 'South depot' },
      { id: base + 13, title: 'Night shift' },
    ],
  }
}

/** Looks like bcrypt; always holds the two characters that a careless client forgets to encode. */
function hashOf(seed: number, number: number): string {
  const letters = Array.from({ length: 53 }, (_, place) => ALPHABET[between(0, 63, roll(seed, 3, number, place))])
  letters[between(3, 20, roll(seed, 4, number))] = '/'
  letters[between(25, 45, roll(seed, 5, number))] = '.'
  return `$2y$10$${letters.join('')}`
}

function geofencesOf(region: Region, base: number): Geofence[] {
  const at = (i: number, j: number): Point => {
    const { lat, lng } = pointAt(region, { i, j })
    return { lat: round6(lat), lng: round6(lng) }
  }
  const fence = (n: number, name: string, color: string, area: Area, active = true) => ({
    id: base + n,
    name,
    active,
    color,
    area,
  })
  const industrial = [at(-9, 4), at(-5, 4), at(-4.5, 6), at(-5, 8), at(-9.3, 8)]
  return [
    fence(1, 'North depot', '#2e7d32', depotArea(region, 0)),
    fence(2, 'South depot', '#1565c0', depotArea(region, 1)),
    fence(3, 'City centre', '#d000df', { center: at(4, 4), radius: 1200 }),
    fence(4, 'Industrial park\t', '#ef6c00', { polygon: industrial }),
    fence(5, 'Airport', '#00838f', { center: at(15, 12), radius: 1500 }),
    fence(6, 'Old yard', '#c191c4', { center: at(-3, -9), radius: 150 }, false),
  ]
}

function alertsOf(base: number): Alert[] {
  const alert = (n: number, type: AlertType, name: string, rest: Partial<Alert>): Alert => ({
    ...{ id: base + 50 + n, type, name, active: true, value: 0, geofences: [], nth: 1 },
    ...rest,
  })
  return [
    alert(1, 'overspeed', 'Too fast', { value: 95 }),
    alert(2, 'geofence_inout', 'Depots', { geofences: [base + 1, base + 2] }),
    alert(3, 'geofence_in', 'City centre entered', { geofences: [base + 3], nth: 2 }),
    alert(4, 'geofence_out', 'Left the airport', { geofences: [base + 5], nth: 7 }),
    alert(5, 'ignition', 'Key on or off', { nth: 9 }),
    alert(6, 'ignition', 'Key off', { value: 2, nth: 7, active: false }),
    alert(7, 'sos', 'Panic button', {}),
    alert(8, 'offline_duration', 'No data', { value: 30 }),
    alert(9, 'idle_duration', 'Idling', { value: 5, nth: 2 }),
    alert(10, 'stop_duration', 'Long stop', { value: 40, nth: 4 }),
  ]
}

const NAMES =
  'Ana Ruiz Vela,Bruno Sanz,Carla Otero,Dario Pons,Elena Gil Roca,Farid Amari,Greta Lund,Hugo Prats,Ines Calvo,Jon Arrieta,Karim Haddad,Lucia Mora'.split(
    ',',
  )

function driversOf(seed: number, base: number, count: number): Driver[] {
  return Array.from({ length: count }, (_, n) => ({
    id: base + 81 + n,
    name: NAMES[(n + base * 3) % NAMES.length]!,
    rfid:
      n === 4
        ? ''
        : between(0x100000, 0xffffff, roll(seed, 12, n))
            .toString(16)
            .toUpperCase()
            .padStart(10, '0'),
    phone: n === 3 ? '' : `+34600000${String(base + n).padStart(3, '0')}`,
    index: n >= count - 2 ? undefined : 2 * n + 1,
  }))
}
