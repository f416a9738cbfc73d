/** Builds the columns of a fleet from the rows of `get_devices` as they arrive, over all pages of the response. Runs in the worker. */
import type { Steps } from '../lib/in-turns.js'
import { fieldReader, type Row } from '../lib/json-rows/index.js'
import { TextArenaBuilder } from '../lib/text-arena.js'
import { truncated } from '../lib/truncated.js'
import { isUnread } from '../platform/changed.js'
import { isObject, itemsOf, read } from '../platform/shape.js'
import { type WireDeviceState, wireDevice, wireDeviceState } from '../platform/wire.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import { deviceId, isKnownState, needsZone, statusOf, updatedAt } from '../resources/device.js'
import { driverIdOf } from '../resources/device-state.js'
import type { Zone } from '../resources/zone.js'
import { needsZoneFlag, serviceFlags, statuses } from './fleet.js'
import type { RowOf } from './items.js'
import { correctTimes, minutesAhead } from './wall-clock.js'

/** Unknown state words kept per fleet, and characters kept of each. */
const maxUnknownStates = 50
const maxWordLength = 100
/** Characters kept of a group's title. */
const maxTitleLength = 200
/** Estimated heap of a row beside its text. */
const rowBytes = 120

/** As much of a row as the columns need; everything else of it stays text. */
const readState = fieldReader(wireDevice, wireDeviceState) as (row: Row) => WireDeviceState

interface Arrived {
  /** 0 without a usable one. */
  id: number
  flags: number
  driver: number
  updated: number
  /** As `minutesAhead` returns it. */
  ahead: number | undefined
  /** An unknown state word. */
  word: string | undefined
  /** The index of the group's title, once the row is in a group. */
  group: number
  /** The number of its compact text, which is empty for a repeated row. */
  text: number
}

export class FleetBuilder {
  readonly #now: number
  readonly #clock: Zone | undefined
  /** The rows of the page that is being read, in the order of arrival. */
  #arrived: Arrived[] = []
  /** The rows that are devices, by id. */
  readonly #devices = new Map<number, Arrived>()
  /** Group titles with their indexes. */
  readonly #titles = new Map<string | undefined, number>()
  /** The slots of the two lists of maintenance services, the same in all rows. */
  #services: { listed: number; shown: number } | undefined
  readonly #texts = new TextArenaBuilder()
  #rows = 0
  #bytes = 0
  #skipped = 0

  /** @param now see `statusOf`. @param clock the account's zone, if its Unix times have to be corrected. */
  constructor(now: number, clock?: Zone) {
    this.#now = now
    this.#clock = clock
  }

  /** Estimated memory of everything kept so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Devices so far. */
  get size(): number {
    return this.#devices.size
  }

  has(deviceId: number): boolean {
    return this.#devices.has(deviceId)
  }

  /** Begins a page, perhaps one whose last attempt has failed: its rows are dropped. */
  startPage(): void {
    this.#arrived = []
  }

  /** Adds a row as it arrives; `addPage` places it in the response. */
  addRow(arrived: Row): void {
    this.#services ??= { listed: arrived.slot('device_data.services'), shown: arrived.slot('services') }
    const { listed, shown } = this.#services
    const row = readState(arrived)
    const id = deviceId(row) ?? 0
    // A platform that ignores the page sends the whole list again.
    const length = this.#devices.has(id) ? 0 : arrived.length
    this.#texts.add(length, (to, from) => length === 0 || arrived.copy(to, from))
    this.#bytes += length + rowBytes
    const sent = statusOf(row, this.#now)
    const ahead = minutesAhead(row, sent !== 'offline', this.#now)
    if (this.#clock) correctTimes(row, this.#clock, this.#now)
    const status = this.#clock ? statusOf(row, this.#now) : sent
    const flags =
      statuses.indexOf(status) |
      (needsZone(row) ? needsZoneFlag : 0) |
      (arrived.has(listed) ? serviceFlags.listed : 0) |
      (arrived.isList(listed) ? serviceFlags.list : 0) |
      (arrived.has(shown) ? serviceFlags.shown : 0)
    const word = isKnownState(row) ? undefined : truncated(String(row.online), maxWordLength)
    const driver = driverIdOf(row) ?? 0
    this.#arrived.push({ id, flags, driver, updated: updatedAt(row), ahead, word, group: 0, text: this.#rows })
    this.#rows += 1
  }

  /**
   * Adds the devices of one page, once each: a device in two groups is in the first of them.
   * @param groups of the page, without the rows that arrived by `addRow`.
   * @returns the number of items, including repeated devices and items that are not devices, of items that are, and of devices
   * that no earlier page had.
   */
  *addPage(groups: readonly unknown[], rowOf: RowOf): Steps<{ items: number; devices: number; added: number }> {
    const before = this.size
    let [count, devices, skipped] = [0, 0, 0]
    for (const group of groups) {
      if (!isObject(group) || isUnread(group.items)) skipped += 1
      const { title, items }: Record<string, unknown> = isObject(group) ? group : {}
      let index: number | undefined
      for (const item of itemsOf(items)) {
        index ??= this.#titleIndex(read('scalar', title))
        count += 1
        const row = this.#arrived[rowOf(item) ?? -1]
        if (row?.id) devices += 1
        else skipped += 1
        if (row?.id && !this.#devices.has(row.id)) this.#devices.set(row.id, Object.assign(row, { group: index }))
        yield
      }
    }
    const added = this.size - before
    // A page of known devices repeats an earlier one.
    if (added > 0 || devices === 0) this.#skipped += skipped
    return { items: count, devices, added }
  }

  /** The columns, ordered by id. Ends the builder. */
  columns(): Omit<FleetColumns, 'ignoresId'> {
    const rows = [...this.#devices.values()].sort((a, b) => a.id - b.id)
    const [ahead, words] = [new Map<number, number>(), new Map<string, number>()]
    for (const row of rows) {
      if (row.ahead !== undefined) count(ahead, row.ahead)
      if (row.word !== undefined && (words.has(row.word) || words.size < maxUnknownStates)) count(words, row.word)
    }
    return {
      ids: new Float64Array(rows.map(({ id }) => id)),
      rows: this.#texts.build(rows.map(({ text }) => text)),
      groups: [...this.#titles.keys()],
      groupOf: new Uint32Array(rows.map(({ group }) => group)),
      flags: new Uint8Array(rows.map(({ flags }) => flags)),
      drivers: new Float64Array(rows.map(({ driver }) => driver)),
      updated: new Float64Array(rows.map(({ updated }) => updated)),
      ...{ now: this.#now, ahead: [...ahead], skippedRows: this.#skipped, unknownStates: [...words] },
    }
  }

  #titleIndex(scalar: ReturnType<typeof read<'scalar'>>): number {
    const title = scalar === undefined ? undefined : truncated(String(scalar), maxTitleLength)
    const index = this.#titles.get(title) ?? this.#titles.size
    this.#titles.set(title, index)
    return index
  }
}

const count = <K>(counts: Map<K, number>, key: K): unknown => counts.set(key, (counts.get(key) ?? 0) + 1)
