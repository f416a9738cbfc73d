/** Builds the columns of a fleet from the rows of `get_devices` as they arrive, over all pages of the response. Runs in the worker. */
import type { Row, RowReader } from '../lib/json-rows/index.js'
import { TextArenaBuilder } from '../lib/text-arena.js'
import { pageOf } from '../platform/pages.js'
import { itemsOf, read } from '../platform/shape.js'
import type { FleetColumns } from '../platform/worker-messages.js'
import { deviceId, isKnownState, needsZone, statusOf, updatedAt } from '../resources/device.js'
import { driverIdOf } from '../resources/device-state.js'
import { id } from '../resources/units.js'
import { needsZoneFlag, serviceFlags, statuses } from './fleet.js'
import { type IndexedFields, indexedFieldsOf, slotsOf } from './indexed-fields.js'

/** Unknown state words kept per fleet, and characters kept of each. */
const maxUnknownStates = 50
const maxWordLength = 100
/** Estimated heap of a row's entries in the columns. */
const entryBytes = 68

export interface PageCount {
  rows: number
  added: number
}

export class FleetBuilder {
  readonly #now: number
  readonly #texts = new TextArenaBuilder()
  readonly #unknownStates = new Map<string, number>()
  // One entry per row, in the order of arrival.
  /** Identifies a row: its id as a number in either spelling, else as text. */
  readonly #keys: (number | string)[] = []
  /** Device ids; 0 for a row without a usable one. */
  readonly #ids: number[] = []
  readonly #flags: number[] = []
  readonly #drivers: number[] = []
  readonly #updated: number[] = []
  // One entry per device, in the order of the response.
  readonly #order: number[] = []
  readonly #titles: (string | undefined)[] = []
  readonly #seen = new Set<number | string>()
  #slots: ReturnType<typeof slotsOf> | undefined
  #bytes = 0
  #skipped = 0

  /** @param now Unix milliseconds, see `statusOf`. */
  constructor(now: number) {
    this.#now = now
  }

  /** Estimated memory of everything kept so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** The number of the next row that arrives. */
  get nextRow(): number {
    return this.#keys.length
  }

  has(deviceId: number): boolean {
    return this.#seen.has(deviceId)
  }

  /** Adds a row as it arrives; `addPage` tells later where in the response it was. */
  addRow(row: Row): void {
    this.#slots ??= slotsOf(row)
    this.#texts.add(row.length, (to, from) => row.copy(to, from))
    this.#bytes += row.length + entryBytes
    this.#index(indexedFieldsOf(row, this.#slots))
  }

  /**
   * Adds the devices of one page, once each: a device in two groups is in the first of them.
   * @param envelope the page without the rows that arrived by `addRow`.
   * @param reader the reader of the page.
   * @param firstRow `nextRow` before the page.
   * @returns the rows of the page, and those of them that no earlier page had.
   */
  addPage(envelope: unknown, reader: Pick<RowReader, 'rowAt' | 'add'>, firstRow: number): PageCount {
    const before = this.#order.length
    let rows = 0
    for (const group of itemsOf(pageOf(envelope).rows)) {
      if (!isRecord(group)) {
        this.#skipped += 1
        continue
      }
      const title = read('scalar', group.title)
      for (const item of itemsOf(group.items)) {
        // Rows in an object with numeric keys are part of the envelope.
        const row = reader.rowAt(item) ?? (isRecord(item) ? reader.add(item) : undefined)
        if (row === undefined) {
          this.#skipped += 1
          continue
        }
        this.#place(firstRow + row, title)
        rows += 1
      }
    }
    return { rows, added: this.#order.length - before }
  }

  /** The columns, ordered by id. Ends the builder. */
  columns(): FleetColumns {
    const order = [...this.#order.keys()].filter((i) => this.#idAt(i) > 0).sort((a, b) => this.#idAt(a) - this.#idAt(b))
    const rows = order.map((i) => this.#order[i] as number)
    const groups = [...new Set(order.map((i) => this.#titles[i]))]
    const groupIndex = new Map(groups.map((title, index) => [title, index]))
    return {
      ids: Float64Array.from(rows, (row) => this.#ids[row] as number),
      rows: this.#texts.build(rows),
      groups,
      groupOf: Uint32Array.from(order, (i) => groupIndex.get(this.#titles[i]) as number),
      flags: Uint8Array.from(rows, (row) => this.#flags[row] as number),
      drivers: Float64Array.from(rows, (row) => this.#drivers[row] as number),
      updated: Float64Array.from(rows, (row) => this.#updated[row] as number),
      now: this.#now,
      skippedRows: this.#skipped + this.#order.length - order.length,
      unknownStates: [...this.#unknownStates],
    }
  }

  #idAt(i: number): number {
    return this.#ids[this.#order[i] as number] as number
  }

  #place(row: number, title: ReturnType<typeof read<'scalar'>>): void {
    const key = this.#keys[row] as number | string
    if (this.#seen.has(key)) return
    this.#seen.add(key)
    this.#order.push(row)
    this.#titles.push(title === undefined ? undefined : String(title))
  }

  #index({ row, listsServices, showsServices }: IndexedFields): void {
    if (!isKnownState(row)) this.#countUnknownState(String(row.online).slice(0, maxWordLength))
    const key = row.id ?? row.device_data.id
    this.#ids.push(deviceId(row) ?? 0)
    this.#drivers.push(driverIdOf(row) ?? 0)
    this.#updated.push(updatedAt(row))
    this.#flags.push(
      statuses.indexOf(statusOf(row, this.#now)) |
        (needsZone(row) ? needsZoneFlag : 0) |
        (listsServices ? serviceFlags.listed : 0) |
        (showsServices ? serviceFlags.shown : 0),
    )
    this.#keys.push(id(key) ?? String(key))
  }

  #countUnknownState(word: string): void {
    const count = this.#unknownStates.get(word)
    if (count !== undefined || this.#unknownStates.size < maxUnknownStates) {
      this.#unknownStates.set(word, (count ?? 0) + 1)
    }
  }
}

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)
