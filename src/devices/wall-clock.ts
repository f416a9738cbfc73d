/** Detects and corrects the Unix times of installations that write their wall clock as Unix time: their rows lie in the future. */
import { BoundedMap } from '../lib/bounded-map.js'
import type { Account } from '../platform/account.js'
import { isPermanent } from '../platform/errors.js'
import type { Scalar } from '../platform/shape.js'
import type { WireSetup } from '../platform/wire.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import { unixSeconds } from '../resources/time.js'
import { number } from '../resources/units.js'
import { fromWallClock, offsetMinutesAt, repeatsAfter, toZone, type Zone } from '../resources/zone.js'

const unixTimes = ['timestamp', 'acktimestamp', 'moved_timestamp'] as const
type UnixTimes = { [name in (typeof unixTimes)[number]]?: Scalar }

/** Corrects the Unix times of a row in place. @param now Unix milliseconds. */
export function correctTimes(row: UnixTimes, zone: Zone, now: number): void {
  for (const name of unixTimes) {
    const wall = unixSeconds(number(row[name]))
    if (wall > 0) row[name] = Math.floor(instantOf(wall * 1000, zone, now) / 1000)
  }
}

/** The instant of a wall clock time. When daylight saving time ends, it has two: the later one if both are recent. */
function instantOf(wall: number, zone: Zone, now: number): number {
  const first = fromWallClock(wall, zone)
  if (first < now - 2 * hour || first > now) return first
  const second = first + repeatsAfter(first, zone)
  return second <= now + toleranceMinutes * 60_000 ? second : first
}

const hour = 3_600_000

/** Clock skew and network delay are smaller than this. */
const toleranceMinutes = 5
const maxOffsetMinutes = 14 * 60

/** Minutes that a row's last data is ahead of `now`, Unix milliseconds; 0 for a connected device with correct times, else undefined. */
export function minutesAhead(row: UnixTimes, isConnected: boolean, now: number): number | undefined {
  const last = Math.max(unixSeconds(number(row.timestamp)), unixSeconds(number(row.acktimestamp)))
  const minutes = Math.round((last - now / 1000) / 60)
  if (minutes > toleranceMinutes && minutes <= maxOffsetMinutes + toleranceMinutes) return minutes
  return isConnected && Math.abs(minutes) <= toleranceMinutes ? 0 : undefined
}

/**
 * Whether Unix times are the wall clock of this zone; undefined without evidence. The rows vote: a single tracker may be set
 * to local time itself, and where the wall clock is written, no connected device is in time.
 * @param minRows that the zone has to explain.
 */
export function isWallClock(ahead: FleetColumns['ahead'], now: number, zone: Zone, minRows = 1): boolean | undefined {
  const offset = offsetMinutesAt(now, zone)
  // Both clocks agree now, perhaps until daylight saving time begins.
  if (Math.abs(offset) <= toleranceMinutes) return undefined
  let [explained, inTime] = [0, 0]
  for (const [minutes, rows] of ahead) {
    if (minutes === 0) inTime += rows
    else if (Math.abs(minutes - offset) <= toleranceMinutes) explained += rows
  }
  return explained + inTime === 0 ? undefined : explained > inTime && explained >= minRows
}

/** Accounts to remember; beyond this, the oldest is forgotten. */
const maxAccounts = 20_000
/** How long a platform that has ignored an id is not sent another one. */
const ignoresIdsForMs = 3_600_000
/** How long a list outweighs a device that contradicts it: by then another one may be connected. */
const listedForMs = 600_000

/** A request for one device does not show what the list does: the device, or whether its times have to be corrected. */
export class OnlyInList extends Error {}

/** The device lists of accounts, corrected where their Unix times are the wall clock: then each comes with the account's zone. */
export class CorrectedLists {
  /** The setup of accounts with such times, as their last list showed; null for the others. */
  readonly #clocks = new BoundedMap<string, WireSetup | null>(maxAccounts)
  /** Accounts whose platform ignored an id, and when, Unix milliseconds. */
  readonly #ignoredIdAt = new BoundedMap<string, number>(maxAccounts)
  /** When the times of an account's list were last compared with its zone, Unix milliseconds. */
  readonly #listedAt = new BoundedMap<string, number>(maxAccounts)
  readonly #onFound: (account: string, offsetMinutes: number) => void

  constructor(onFound: (account: string, offsetMinutes: number) => void) {
    this.#onFound = onFound
  }

  /** One device. @throws OnlyInList, or as `Account.devices`. */
  async device(account: Account, id: number, now: number) {
    if (isWithin(ignoresIdsForMs, this.#ignoredIdAt.get(account.id), now)) throw new OnlyInList()
    const { known, setup } = await this.#knownClock(account)
    const columns = await account.devices(id, now, setup).catch((error: unknown) => {
      // An unknown or foreign id may cause such an error: no response to one was recorded (platform.md 0.3). The list decides.
      throw isPermanent(error) ? new OnlyInList() : error
    })
    if (columns.ignoresId) this.#ignoredIdAt.set(account.id, now)
    if (columns.ignoresId || (await this.#contradictsList(account, columns, known))) throw new OnlyInList()
    return { columns, zone: setup && toZone(setup) }
  }

  /** All devices of the account. */
  async list(account: Account, now: number) {
    const { known, setup } = await this.#knownClock(account)
    const columns = await account.devices(undefined, now, setup)
    const found = await this.#clockOf(account, columns.ahead, now, known === null ? null : setup)
    if (found !== undefined) this.#clocks.set(account.id, found)
    const clock = found === null ? undefined : (found ?? setup)
    const correct = clock === setup ? columns : await account.devices(undefined, now, clock)
    return { columns: correct, zone: clock && toZone(clock) }
  }

  /** Whether a device contradicts the last list, so that a new list decides: one device cannot outvote it. Clocks may have been set since. */
  async #contradictsList(
    account: Account,
    { ahead, now }: FleetColumns,
    known: WireSetup | null | undefined,
  ): Promise<boolean> {
    const isNews = known ? isWallClock(ahead, now, toZone(known)) === false : hasFutureTimes(ahead)
    if (!isNews || isWithin(listedForMs, this.#listedAt.get(account.id), now)) return false
    return (await account.knownSetup()) !== undefined
  }

  async #knownClock(account: Account) {
    const known = this.#clocks.get(account.id)
    return { known, setup: known ? ((await account.knownSetup()) ?? known) : undefined }
  }

  /** Undefined without evidence. */
  async #clockOf(account: Account, ahead: FleetColumns['ahead'], now: number, known: WireSetup | null | undefined) {
    const isNews = hasFutureTimes(ahead)
    const setup = known ?? (isNews ? await account.knownSetup() : undefined)
    if (!setup) return isNews || ahead.length === 0 ? undefined : null
    const zone = toZone(setup)
    // Devices that have been in time may be parked while a tracker on local time is not.
    const isFound = isWallClock(ahead, now, zone, known === null ? 2 : 1)
    if (isFound && !known) this.#onFound(account.id, offsetMinutesAt(now, zone))
    this.#listedAt.set(account.id, now)
    return isFound === undefined ? undefined : isFound ? setup : null
  }
}

const isWithin = (ms: number, then: number | undefined, now: number): boolean =>
  then !== undefined && Math.abs(now - then) < ms

const hasFutureTimes = (ahead: FleetColumns['ahead']): boolean => ahead.some(([minutes]) => minutes > 0)
