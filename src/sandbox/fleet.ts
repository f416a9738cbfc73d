/** Pure: which vehicles an account has and which tour each drives on which day. Knows no report. */
import { between, roll } from './random.js'
import type { Region } from './roads.js'
import { compileTour, type Kind, type Tour } from './tour.js'

export type Fleet = {
  region: Region
  /** Seconds that the account's wall clock is ahead of UTC. */
  zoneSeconds: number
  firstId: number
  count: number
  tours: Record<Kind, Tour[]>
  /** What was worked out of each vehicle's rota; bounded. */
  rotas: Map<number, Rota>
}

export type State = 'working' | 'expired' | 'never connected'
/** A tour on a day of the account's clock; `start` is Unix seconds. */
export type Shift = { day: number; start: number; tour: Tour; km: number; engineSeconds: number }

export const DAY = 86_400
/** 2026-01-01, where the counters of all vehicles stand at their first value; a multiple of the rota's length. */
export const FIRST_DAY = 20_454
export const ROTA_DAYS = 14
const KINDS: Kind[] = [...'SDNDSDSNSDSDNSDSDSNDYSDSD'].map(
  (letter) => ({ S: 'shuttle', D: 'day', N: 'night', Y: 'yard' })[letter] as Kind,
)
const POOL: Record<Kind, number> = { shuttle: 6, day: 8, night: 4, yard: 2 }

/** Works out the tours one at each step, so that others may run in between. */
export function* buildFleet(
  place: Pick<Fleet, 'region' | 'zoneSeconds' | 'firstId'>,
  count: number,
): Generator<void, Fleet> {
  const tours: Fleet['tours'] = { shuttle: [], day: [], night: [], yard: [] }
  for (const kind of ['shuttle', 'day', 'night', 'yard'] as const) {
    for (let number = 0; number < POOL[kind]; number++) {
      tours[kind].push(compileTour(place.region, kind, number))
      yield
    }
  }
  return { ...place, count, tours, rotas: new Map() }
}

export const kindOf = (index: number): Kind => KINDS[index % KINDS.length]!
export const depotOf = (index: number): number => index % 2
export const stateOf = (index: number): State =>
  index === 11 ? 'never connected' : index === 5 ? 'expired' : 'working'
export const dayOf = (fleet: Fleet, instant: number): number => Math.floor((instant + fleet.zoneSeconds) / DAY)
export const dayStart = (fleet: Fleet, day: number): number => day * DAY - fleet.zoneSeconds

function works(kind: Kind, index: number, weekday: number, rotaDay: number): boolean {
  if (kind === 'shuttle') return true
  if (kind === 'night') return weekday !== index % 7
  if (kind === 'yard') return rotaDay % 6 === index % 6
  return index % 5 === 4 ? weekday !== 1 && weekday !== 2 : weekday !== 0 && (weekday !== 6 || index % 4 === 1)
}

/** The fortnight that a vehicle repeats for ever, with the counters before each of its days. */
type Rota = { tours: (Tour | undefined)[]; before: Counters[]; base: Counters; place: { east: number; north: number } }
type Counters = { km: number; engineSeconds: number }

const REMEMBERED = 20_000

export function rotaOf(fleet: Fleet, index: number): Rota {
  const known = fleet.rotas.get(index)
  if (known) return known
  const { seed } = fleet.region
  const kind = kindOf(index)
  const pool = fleet.tours[kind]
  const [low, high] = kind === 'shuttle' ? [280_000, 520_000] : [14_000, 130_000]
  const km = between(low!, high!, roll(seed, 8, index))
  const place = { east: between(-60, 60, roll(seed, 9, index)), north: between(-50, 50, roll(seed, 10, index)) }
  const rota: Rota = { tours: [], before: [{ km: 0, engineSeconds: 0 }], base: { km, engineSeconds: km * 106 }, place }
  for (let day = 0; day < ROTA_DAYS; day++) {
    const busy = stateOf(index) === 'working' && works(kind, index, (day + 4) % 7, day)
    const tour = busy ? pool[2 * Math.floor((roll(seed, 5, index, day) * pool.length) / 2) + depotOf(index)] : undefined
    const before = rota.before[day]!
    rota.tours.push(tour)
    rota.before.push({
      km: before.km + (tour?.km ?? 0),
      engineSeconds: before.engineSeconds + (tour?.engineSeconds ?? 0),
    })
  }
  if (fleet.rotas.size >= REMEMBERED) fleet.rotas.clear()
  fleet.rotas.set(index, rota)
  return rota
}

function tourOf(fleet: Fleet, index: number, day: number): Tour | undefined {
  return rotaOf(fleet, index).tours[((day % ROTA_DAYS) + ROTA_DAYS) % ROTA_DAYS]
}

function startOf(fleet: Fleet, index: number, day: number): number {
  const slot = roll(fleet.region.seed, 6, index)
  const spread = (index * 0.6180339887) % 1
  const [from, to, wobble] = {
    shuttle: [600, 85_800, 180],
    day: [6 * 3600, 9.5 * 3600, 600],
    night: [19.5 * 3600, 22 * 3600, 600],
    yard: [9 * 3600, 14 * 3600, 900],
  }[kindOf(index)] as [number, number, number]
  const planned = from + (to - from) * (kindOf(index) === 'shuttle' ? spread : slot)
  const late = between(-wobble, wobble, roll(fleet.region.seed, 7, index, day))
  return dayStart(fleet, day) + Math.max(60, Math.floor(planned + late))
}

/** The shift of a vehicle that begins on this day of the account's clock, without its counters. */
export function shiftOn(fleet: Fleet, index: number, day: number): Omit<Shift, 'km' | 'engineSeconds'> | undefined {
  const tour = tourOf(fleet, index, day)
  return tour && { day, start: startOf(fleet, index, day), tour }
}

/** When the vehicle next leaves home after this day. */
export function startAfter(fleet: Fleet, index: number, day: number): number {
  for (let later = day + 1; later <= day + ROTA_DAYS; later++)
    if (tourOf(fleet, index, later)) return startOf(fleet, index, later)
  return Number.POSITIVE_INFINITY
}

/** What the vehicle's counters show when the day begins: whole rotas since the first day, then days. */
export function countersBefore(fleet: Fleet, index: number, day: number): Counters {
  const { base, before } = rotaOf(fleet, index)
  const rotas = Math.floor((day - FIRST_DAY) / ROTA_DAYS)
  const rest = before[day - FIRST_DAY - rotas * ROTA_DAYS]!
  const whole = before[ROTA_DAYS]!
  return {
    km: base.km + rotas * whole.km + rest.km,
    engineSeconds: base.engineSeconds + rotas * whole.engineSeconds + rest.engineSeconds,
  }
}
