/** What the routes share: parameters, the 404 of an id, and the translation of platform rows. */
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { withoutCredentials } from '../auth/credential.js'
import type { DeviceCache } from '../devices/device-cache.js'
import type { Fleet } from '../devices/fleet.js'
import { ApiError } from '../errors.js'
import { inTurns, type Steps } from '../lib/in-turns.js'
import { jsonBytes } from '../lib/json-bytes.js'
import { truncated } from '../lib/truncated.js'
import type { Scalar } from '../platform/shape.js'
import { type List, type Page, page } from '../resources/list.js'
import { Integer } from '../resources/schema.js'
import { id } from '../resources/units.js'
import type { KeyStore } from '../store/store.js'

/** What the routes of an account need. */
export interface Needs {
  deviceCache: DeviceCache
  keys: KeyStore
  translate: Translate
  /** Epoch milliseconds. */
  clock: () => number
  /** Time to live of cached positions. */
  ttlMs: number
  /** Maximum number of days in one history request. */
  maxDays: number
}

export const invalid = (param: string, message: string): ApiError => new ApiError('invalid_request', { param, message })

/** An id in a path. Documented as an integer, but any text is accepted: one that is not an integer is unknown, not invalid. */
export const PathId = (description: string, example: number) =>
  Type.Unsafe<string>(Integer({ minimum: 1, description, examples: [example] }))

/** 404 with the id as sent, without credentials and truncated to 64 characters. */
export function notFound(noun: string, sent: string): ApiError {
  const named = truncated(withoutCredentials(sent), 64)
  return new ApiError('not_found', { message: `There is no ${noun} with id ${named}.` })
}

const mediaTypes = { json: 'application/json; charset=utf-8', geojson: 'application/geo+json; charset=utf-8' } as const

/** Sends JSON text; typed as the value it represents. */
export function sendJson<T>(reply: FastifyReply, body: string | Buffer, format: keyof typeof mediaTypes = 'json'): T {
  reply.type(mediaTypes[format])
  return body as unknown as T
}

/** Translates the platform rows of an action to resources; rows that are not valid are left out. */
export const translator =
  (onSkipped: (action: string, rows: number) => void, onRows: (action: string, rows: readonly object[]) => void) =>
  <Row extends object, T>(action: string, rows: readonly Row[], toX: (row: Row) => T | undefined): T[] => {
    onRows(action, rows)
    const items = rows.map(toX).filter((item) => item !== undefined)
    if (items.length < rows.length) onSkipped(action, rows.length - items.length)
    return items
  }
type Translate = ReturnType<typeof translator>

/** Estimated heap of an item and its text, and of each of its parts. */
const [itemBytes, partBytes] = [500, 200]
/** Parts in one response: more of them would hold the event loop for over 0.3 s. */
const maxParts = 200_000
/** Of a character in JSON, where a control character is `\u0001`. */
const charBytes = 6

interface Identified<Row> {
  id: number
  row: Row
}

/** A row with its id; undefined without a valid one. For `translator`. */
export function identified<Row extends { id?: Scalar }>(row: Row): Identified<Row> | undefined {
  const rowId = id(row.id)
  return rowId === undefined ? undefined : { id: rowId, row }
}

interface RowsOptions<Row, T> {
  /** The number of parts of an item, such as coordinates. */
  partsOf?: (row: Row) => number
  /** The device of an item: the items of a device are translated one after another. */
  deviceOf?: (row: Row) => number
  /** The characters of its texts. */
  charsOf?: (item: T) => number
}

/** The characters of the texts in a record or list, without those of nested ones. */
export const charsIn = (item: object): number =>
  Object.values(item).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

/** Reserves memory for items with so many parts in all. @throws ApiError `gateway_error` where there is none, or there are too many parts. */
export function reserveItems(reply: FastifyReply, items: number, parts: number): void {
  reply.reserve(parts > maxParts ? Number.POSITIVE_INFINITY : itemBytes * items + partBytes * parts)
}

/**
 * Sends a page of the rows by ascending id, without repeated ids, or what `toBody` makes of it. In steps, between which other callers have
 * their turns: 50,000 alerts held the event loop for 0.9 s. Memory is reserved before the rows are translated, and for texts after each item.
 * @throws ApiError `gateway_error` where there is no memory.
 */
export async function sendRows<Row, T extends { id: number }>(
  reply: FastifyReply,
  rows: Identified<Row>[],
  paging: Page,
  toItem: (row: Row, id: number) => T,
  options: RowsOptions<Row, T> = {},
  format?: { as: 'geojson'; toBody: (list: List<T>) => object },
): Promise<List<T>> {
  const work = function* (): Steps<Uint8Array<ArrayBuffer>> {
    const list = yield* pageOfRows(reply, rows, paging, toItem, options)
    return yield* jsonBytes(format ? format.toBody(list) : list)
  }
  return sendJson<List<T>>(reply, await bytesOf(reply, work()), format?.as)
}

/** Long JSON, made in steps that are turns of the account. */
export async function bytesOf({ request }: FastifyReply, steps: Steps<Uint8Array<ArrayBuffer>>): Promise<Buffer> {
  const { buffer } = await inTurns(steps, undefined, () => request.account.turn())
  return Buffer.from(buffer)
}

function* pageOfRows<Row, T extends { id: number }>(
  reply: FastifyReply,
  rows: Identified<Row>[],
  paging: Page,
  toItem: (row: Row, id: number) => T,
  { partsOf = () => 0, deviceOf = () => 0, charsOf = charsIn }: RowsOptions<Row, T>,
): Steps<List<T>> {
  const distinct = rows.sort(byId).filter(({ id }, at, all) => id !== all[at - 1]?.id)
  const list = page(distinct, paging)
  const parts = list.data.reduce((sum, { row }) => sum + partsOf(row), 0)
  reserveItems(reply, list.data.length, parts)
  const byDevice = list.data.sort((a, b) => deviceOf(a.row) - deviceOf(b.row))
  const data: T[] = []
  for (const { id, row } of byDevice) {
    const item = toItem(row, id)
    data.push(item)
    // Item by item: each may repeat the same long device name.
    reply.reserve(charBytes * charsOf(item))
    yield
  }
  return { ...list, data: data.sort(byId) }
}

/** The names of devices by id, each read once: a device may be in any number of rows. */
export function namesIn(fleet: Fleet): (id: number) => string | undefined {
  const names = new Map<number, string | undefined>()
  return (id) => {
    if (!names.has(id)) names.set(id, fleet.name(id))
    return names.get(id)
  }
}

export const byId = (a: { id: number }, b: { id: number }): number => a.id - b.id
