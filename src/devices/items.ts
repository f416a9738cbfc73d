/** Reads a response row by row as its bytes arrive: the items of its lists named `items`, and everything else as one document. Runs in the worker. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import { type Row, RowReader, TooLarge } from '../lib/json-rows/index.js'
import type { PlatformQuery } from '../platform/actions.js'
import { heapOf, reserve } from '../platform/body.js'
import { failure } from '../platform/errors.js'
import { checked } from '../platform/response.js'
import { isObject, read } from '../platform/shape.js'
import type { wireDevice, wirePoint } from '../platform/wire.js'
import type { JobAction } from '../platform/worker-messages.js'
import type { JobContext } from '../platform/worker-server.js'

/** Maximum size of a body: about 140,000 devices of 3.7 kB. */
const maxBytes = 512 * 1024 * 1024
/**
 * Bytes to read before other responses have their turn. Beside lists of 10,000, a list of 50 devices takes 11 ms instead of 38;
 * the long lists take up to 15 % longer.
 */
const turnBytes = 128 * 1024
/** Rows of the envelope, which is parsed at once. What is kept of them is not reserved. */
const maxAddedRows = 100_000

interface ItemsOptions {
  shape: typeof wireDevice | typeof wirePoint
  onRow: (row: Row) => void
  /** Everything of the response but its rows. */
  maxEnvelopeBytes: number
  /** Estimated memory of all rows so far. */
  bytes: () => number
}

/** The number of an item's row, in order of arrival from 0; undefined for an item that is no row, or whose row is left out. */
export type RowOf = (item: unknown) => number | undefined

/** The names in the first row at the start of a response, those of nested records included; undefined where that has no row. */
function sampleIn(start: string): object | undefined {
  const [, row] = /"items"\s*:\s*\[\s*\{(.{0,2000})/s.exec(start) ?? []
  return row === undefined
    ? undefined
    : Object.fromEntries([...row.matchAll(/"(\w+)"\s*:/g)].map(([, name]) => [name, name]))
}

/**
 * The envelope is checked to be a response to the action; `sample` returns the names in a row, for the log.
 * @throws as `readDocument`.
 */
export async function readItems(
  request: PlatformQuery & { action: JobAction },
  body: AsyncIterable<Uint8Array>,
  { shape, onRow, maxEnvelopeBytes, bytes }: ItemsOptions,
  { reservation }: Pick<JobContext, 'reservation'>,
): Promise<{ envelope: unknown; rowOf: RowOf; sample: () => object | undefined }> {
  const { action } = request
  const normalize = (record: Record<string, unknown>) => read(shape, record)
  const reader = new RowReader({ shape, normalize, onRow, maxEnvelopeBytes })
  let [received, ofTurn, start] = [0, 0, '']
  for await (const chunk of body) {
    if (start === '') start = Buffer.from(chunk).toString().trimStart()
    if (start[0] === '<') throw failure(action, 'html')
    received += chunk.byteLength
    ofTurn += chunk.byteLength
    if (received > maxBytes) throw failure(action, 'too_large', `${received} bytes`)
    if (ofTurn > turnBytes) {
      await endOfTurn()
      ofTurn = 0
    }
    parsing(action, () => reader.write(chunk))
    const envelope = reader.envelopeSize
    const usedBytes = bytes() + heapOf(envelope.bytes, envelope.opened)
    reserve(action, reservation, Math.max(0, usedBytes - reservation.bytes))
  }
  const envelope = parsing(action, () => reader.end())
  checked(request, envelope)
  let added = 0
  // Rows in an object with numeric keys, or in JSON text, are part of the envelope.
  const rowOf: RowOf = (item) => {
    const row = reader.rowAt(item)
    if (row !== undefined || !isObject(item)) return row
    added += 1
    if (added > maxAddedRows) throw failure(action, 'too_large', 'rows that are no list')
    return reader.add(item)
  }
  return { envelope, rowOf, sample: () => sampleIn(start) }
}

/** Errors of the row reader as platform failures; their messages hold no text of the document. */
function parsing<T>(action: JobAction, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) throw failure(action, 'bad_json', error.message)
    if (error instanceof TooLarge) throw failure(action, 'too_large', error.message)
    throw error
  }
}
