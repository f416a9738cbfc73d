/** Builds the columns of a fleet from the rows of `get_devices` as they arrive, over all pages of the response. Runs in the worker. */
import type { Row } from '../lib/json-rows/index.js'
import { TextArenaBuilder } from '../lib/text-arena.js'
import { isUnread } from '../platform/changed.js'
import { pageOf } from '../platform/pages.js'
import { isObject, itemsOf, read } from '../platform/shape.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import { deviceId, isKnownState, needsZone, statusOf, updatedAt } from '../resources/device.js'
import { driverIdOf } from '../resources/device-state.js'
import type { Zone } from '../resources/zone.js'
import { needsZoneFlag, serviceFlags, statuses } from './fleet.js'
import { indexedFieldsOf, slotsOf } from './indexed-fields.js'
import type { RowOf } from './items.js'
import { correctTimes, minutesAhead } from './wall-clock.js'

/** Unknown state words kept per fleet, and characters kept of each. */
const maxUnknownStates = 50
const maxWordLength = 100
/** Characters kept of a group's title. */
const maxTitleLength = 200
/** Estimated heap of a row's entries in the columns. */
const entryBytes = 76

export interface PageCount {
  /** All items of the page, including repeated devices and items that are not devices. */
  items: number
  /** Devices that no earlier page had. */
  added: number
}

export class FleetBuilder {
  readonly #now: number
  readonly #clock: Zone | undefined
  readonly #texts = new TextArenaBuilder()
  /** Row → state word. */
  readonly #unknownStates = new Map<number, string>()
  // One entry per row, in the order of arrival.
  /** Device ids; 0 for a row without a usable one. */
  readonly #ids: number[] = []
  readonly #flags: number[] = []
  readonly #drivers: number[] = []
  readonly #updated: number[] = []
  /** The index of each group title; empty for rows that are not devices. */
  readonly #groupOf: number[] = []
  /** The rows that are devices, each once, in the order of the response. */
  readonly #order: number[] = []
  /** Group titles with their indexes. */
  readonly #titles = new Map<string | undefined, number>()
  /** What `minutesAhead` returns for each row. */
  readonly #aheadOf: (number | undefined)[] = []
  readonly #seen = new Set<number>()
  /** Devices by these minutes. */
  readonly #ahead = new Map<number, number>()
  #slots: ReturnType<typeof slotsOf> | undefined
  #bytes = 0
  #skipped = 0

  /**
   * @param now Unix milliseconds, see `statusOf`.
   * @param clock the account's zone, if its Unix times are its wall clock and have to be corrected.
   */
  constructor(now: number, clock?: Zone) {
    this.#now = now
    this.#clock = clock
  }

  /** Estimated memory of everything kept so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** The number of the next row that arrives. */
  get nextRow(): number {
    return this.#ids.length
  }

  /** Devices so far. */
  get size(): number {
    return this.#order.length
  }

  has(deviceId: number): boolean {
    return this.#seen.has(deviceId)
  }

  /** Adds a row as it arrives; `addPage` places it in the response. */
  addRow(arrived: Row): void {
    this.#slots ??= slotsOf(arrived)
    const { row, listsServices, hasServiceList, showsServices } = indexedFieldsOf(arrived, this.#slots)
    const id = deviceId(row) ?? 0
    // A platform that ignores the page sends the whole list again.
    const length = this.#seen.has(id) ? 0 : arrived.length
    this.#texts.add(length, (to, from) => length === 0 || arrived.copy(to, from))
    this.#bytes += length + entryBytes
    if (!isKnownState(row)) this.#unknownStates.set(this.nextRow, String(row.online).slice(0, maxWordLength))
    const sent = statusOf(row, this.#now)
    this.#aheadOf.push(minutesAhead(row, sent !== 'offline', this.#now))
    if (this.#clock) correctTimes(row, this.#clock)
    const status = this.#clock ? statusOf(row, this.#now) : sent
    this.#ids.push(id)
    this.#drivers.push(driverIdOf(row) ?? 0)
    this.#updated.push(updatedAt(row))
    this.#flags.push(
      statuses.indexOf(status) |
        (needsZone(row) ? needsZoneFlag : 0) |
        (listsServices ? serviceFlags.listed : 0) |
        (hasServiceList ? serviceFlags.list : 0) |
        (showsServices ? serviceFlags.shown : 0),
    )
  }

  /**
   * Adds the devices of one page, once each: a device in two groups is in the first of them.
   * @param envelope the page without the rows that arrived by `addRow`.
   * @param firstRow `nextRow` before the page.
   */
  addPage(envelope: unknown, rowOf: RowOf, firstRow: number): PageCount {
    const before = this.#order.length
    let [count, skipped] = [0, 0]
    for (const group of itemsOf(pageOf(envelope).rows)) {
      if (!isObject(group)) {
        skipped += 1
        continue
      }
      if (isUnread(group.items)) skipped += 1
      let index: number | undefined
      for (const item of itemsOf(group.items)) {
        index ??= this.#titleIndex(read('scalar', group.title))
        count += 1
        const row = rowOf(item)
        if (row === undefined || !this.#place(firstRow + row, index)) skipped += 1
      }
    }
    const added = this.#order.length - before
    // A page without a new device repeats an earlier one.
    if (added > 0 || before === 0) this.#skipped += skipped
    return { items: count, added }
  }

  /** The columns, ordered by id. Ends the builder. */
  columns(): Omit<FleetColumns, 'needsList'> {
    const idAt = (row: number): number => this.#ids[row] as number
    const rows = Uint32Array.from(this.#order).sort((a, b) => idAt(a) - idAt(b))
    return {
      ids: column(new Float64Array(rows.length), this.#ids, rows),
      rows: this.#texts.build(rows),
      groups: [...this.#titles.keys()],
      groupOf: column(new Uint32Array(rows.length), this.#groupOf, rows),
      flags: column(new Uint8Array(rows.length), this.#flags, rows),
      drivers: column(new Float64Array(rows.length), this.#drivers, rows),
      updated: column(new Float64Array(rows.length), this.#updated, rows),
      now: this.#now,
      ahead: [...this.#ahead],
      skippedRows: this.#skipped,
      unknownStates: this.#countUnknownStates(),
    }
  }

  #titleIndex(scalar: ReturnType<typeof read<'scalar'>>): number {
    const title = scalar === undefined ? undefined : String(scalar).slice(0, maxTitleLength)
    const index = this.#titles.get(title) ?? this.#titles.size
    this.#titles.set(title, index)
    return index
  }

  /** Whether the row is a device. */
  #place(row: number, title: number): boolean {
    const id = this.#ids[row] as number
    if (id === 0) return false
    if (this.#seen.has(id)) return true
    this.#seen.add(id)
    this.#order.push(row)
    this.#groupOf[row] = title
    const ahead = this.#aheadOf[row]
    if (ahead !== undefined) count(this.#ahead, ahead)
    return true
  }

  #countUnknownStates(): FleetColumns['unknownStates'] {
    const counts = new Map<string, number>()
    for (const row of this.#order) {
      const word = this.#unknownStates.get(row)
      if (word !== undefined && (counts.has(word) || counts.size < maxUnknownStates)) count(counts, word)
    }
    return [...counts]
  }
}

const count = <K>(counts: Map<K, number>, key: K): unknown => counts.set(key, (counts.get(key) ?? 0) + 1)

/** The entries of these rows, in this order. */
function column<T extends Float64Array | Uint32Array | Uint8Array>(
  to: T,
  entries: readonly number[],
  rows: Uint32Array,
): T {
  for (let i = 0; i < rows.length; i += 1) to[i] = entries[rows[i] as number] as number
  return to
}
