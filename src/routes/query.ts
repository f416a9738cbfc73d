/** How routes read what a caller sent: strictly, and with an error that names the parameter. Knows no resource. */
import { type Static, type TObject, Type } from 'typebox'
import type { DeviceCache } from '../devices/device-cache.js'
import { ApiError } from '../errors.js'
import type { Account } from '../platform/account.js'
import type { Device } from '../resources/device.js'
import { readQuery, translated } from '../resources/list.js'

/** The query by its schema. @throws ApiError `invalid_request` that names the parameter. */
export function queryOf<T extends TObject>(schema: T, request: { query: unknown }): Static<T> {
  const result = readQuery(schema, request.query)
  if ('value' in result) return result.value
  throw new ApiError('invalid_request', { param: result.param, message: `${result.reason}.` })
}

/** Documented as the integer it is; read as it was sent, since an id of any other form is merely unknown (`idOf`). */
export const PathId = (description: string, example: number) =>
  Type.Unsafe<string>(Type.Integer({ minimum: 1, description, examples: [example] }))

/** An id from a path, or undefined where it is no positive integer. */
export function idOf(text: string): number | undefined {
  const value = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : 0
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}

/** What a credential put in the place of an id looks like; no answer repeats one. */
const credentialLike = /gps_live_\w+|\$2\w\$.+/gi

/** 404 with the id as sent, at most 64 characters of it (design: Device). */
export function notFound(noun: string, sent: string): ApiError {
  const named = sent.replace(credentialLike, '…').slice(0, 64)
  return new ApiError('not_found', { message: `There is no ${noun} with id ${named}.` })
}

/**
 * The device of an id as sent.
 * @throws ApiError `not_found`: unknown and foreign ids look the same, and an id that cannot be one costs no platform call.
 */
export async function deviceOf(positions: DeviceCache, account: Account, sent: string): Promise<Device> {
  const id = idOf(sent)
  const device = id === undefined ? undefined : await positions.fetch(account, id)
  if (!device) throw notFound('device', sent)
  return device
}

/** Rows as resources; those that make none are left out and told to whoever watches the platform. */
export type Translate = <Row extends object, T>(
  action: string,
  rows: readonly Row[],
  toX: (row: Row) => T | undefined,
) => T[]

export const translator =
  (
    onSkipped: (action: string, rows: number) => void,
    onRows: (action: string, rows: readonly object[]) => void,
  ): Translate =>
  (action, rows, toX) => {
    onRows(action, rows)
    const { items, skipped } = translated(rows, toX)
    if (skipped > 0) onSkipped(action, skipped)
    return items
  }

export const byId = (a: { id: number }, b: { id: number }): number => a.id - b.id
