/** Reads a response row by row: the items of its lists named `items`, and everything else as one document. Runs in the worker. */
import { type Row, RowReader } from '../lib/json-rows/index.js'
import { heapOf, parsing, readRows } from '../platform/body.js'
import { isObject, read } from '../platform/shape.js'
import type { wireDevice, wirePoint } from '../platform/wire.js'
import type { JobAction } from '../platform/worker-messages.js'
import type { JobContext } from '../platform/worker-server.js'

const maxRowBytes = 1024 * 1024

interface ItemsOptions {
  shape: typeof wireDevice | typeof wirePoint
  onRow: (row: Row) => void
  /** Everything of the response but its rows. */
  maxEnvelopeBytes: number
  /** Estimated memory of all rows so far. */
  bytes: () => number
}

/** The number of an item's row, in order of arrival from 0; undefined for an item that is not a row. */
export type RowOf = (item: unknown) => number | undefined

export async function readItems(
  action: JobAction,
  body: AsyncIterable<Uint8Array>,
  { shape, onRow, maxEnvelopeBytes, bytes }: ItemsOptions,
  { reservation }: JobContext,
): Promise<{ envelope: unknown; rowOf: RowOf }> {
  const normalize = (record: Record<string, unknown>) => read(shape, record)
  const reader = new RowReader({ shape, normalize, onRow, listName: 'items', maxEnvelopeBytes, maxRowBytes })
  const sink = {
    write: (chunk: Uint8Array) => reader.write(chunk),
    end: () => reader.end(),
    get bytes() {
      const { bytes: envelopeBytes, opened } = reader.envelopeSize
      return bytes() + heapOf(envelopeBytes, opened)
    },
  }
  const envelope = await readRows(action, body, sink, reservation)
  // Rows in an object with numeric keys are part of the envelope.
  const rowOf: RowOf = (item) =>
    reader.rowAt(item) ?? (isObject(item) ? parsing(action, () => reader.add(item)) : undefined)
  return { envelope, rowOf }
}
