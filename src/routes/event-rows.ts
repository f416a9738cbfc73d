/** Rows of the platform's lists of events: their order, and several lists as one. */
import { read } from '../platform/shape.js'
import { type WireEvent, wireEvent } from '../platform/wire.js'
import { type Event, newestFirst, type SortKey, toEvent } from '../resources/event.js'
import { id } from '../resources/units.js'

/** A row without an id is older than all others: no event comes of it. */
export const idOf = (row: WireEvent): number => id(row.id) ?? Number.NEGATIVE_INFINITY

export const newestOf = (rows: readonly WireEvent[]): number => Math.max(...rows.map(idOf))

/** Each row once: a platform that ignores `device_id` may send rows that do not name their device for each of several devices. */
export const distinct = (rows: readonly WireEvent[]): WireEvent[] => [
  ...new Map(rows.map((row) => [id(row.id) ?? row, row])).values(),
]

/** The event of a row, for its place in the order. */
export const eventOf = (row: WireEvent | undefined): Event | undefined =>
  row && toEvent(row, () => undefined, undefined)

/** Before any event, in `newestFirst`. */
const start: SortKey = { id: Number.MAX_SAFE_INTEGER, timestamp: '9999-12-31 23:59:59' }

/**
 * The rows of several lists as one list, each in its own order, which the platform chooses: late events may be anywhere in it. Where a row comes
 * does not depend on how many others were read, so that windows neither lose nor repeat it.
 */
export function merged(lists: readonly unknown[][]): unknown[] {
  const placed = lists.flatMap((rows) => {
    let place = start
    return rows.map((row) => {
      const event = eventOf(read(wireEvent, row))
      // A row that is newer than one before it comes after that one.
      if (event && newestFirst(event, place) > 0) place = event
      return { row, place }
    })
  })
  return placed.sort((a, b) => newestFirst(a.place, b.place)).map(({ row }) => row)
}
