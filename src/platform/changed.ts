/** Recognises responses of a changed platform: they hold rows, or say that there are some, and none can be read. */
import type { Action } from './actions.js'
import { failure, type PlatformError } from './errors.js'
import { type Page, pageOf } from './pages.js'
import { isObject, itemsOf, read, type Scalar } from './shape.js'
import type { WireHistory } from './wire.js'

const maxNames = 12
/** Keys of another form may be data, which no log line may hold. */
const fieldName = /^[a-z][a-z0-9_]{0,30}$/i

/** Names the fields of a record, for the log. */
export function fieldsOf(raw: unknown): string {
  const names = isObject(raw) ? Object.keys(raw).filter((key) => fieldName.test(key)) : []
  return `fields: ${names.slice(0, maxNames).join(', ') || 'none'}`
}

/** @param missing the field that was expected. @param found where it was expected, as the platform sent it. */
export const changedError = (action: Action, missing: string, found?: unknown): PlatformError =>
  failure(action, 'wrong_shape', `no ${missing}${found === undefined ? '' : `; ${fieldsOf(found)}`}`)

/** Content in place of a list: a record (the list may have a new name), a positive number, or text that is not a list. */
export function isUnread(raw: unknown): boolean {
  if (itemsOf(raw).length > 0) return false
  if (typeof raw === 'string') return !/^(\[\s*\]|\{\s*\})?$/.test(raw.trim())
  return isObject(raw) ? Object.keys(raw).length > 0 : Number(raw) > 0
}

/** The same for a whole list, in place of which a platform may send words (`No events`). */
const isUnreadList = (raw: unknown): boolean => isUnread(raw) && !(typeof raw === 'string' && /^\s*[^\s[{]/.test(raw))

const hasId = (row: unknown): boolean => isObject(row) && /^[1-9]\d{0,15}$/.test(String(read('scalar', row.id)))

/** Rows before the page, by the numbers that it sends; infinite after the first page if it does not send its size. */
function rowsBefore({ currentPage, perPage }: Page, number: number): number {
  const before = (currentPage ?? number) - 1
  return before <= 0 ? 0 : before * (perPage ?? Number.POSITIVE_INFINITY)
}

/**
 * The rows of a page.
 * @param number of the requested page.
 * @throws PlatformUnavailable `wrong_shape` where there are none, and the page itself says that there are some.
 */
export function checkedRows(action: Action, page: Page, number: number): unknown[] {
  const rows = itemsOf(page.rows)
  const isEmpty = page.total === undefined ? !isUnreadList(page.rows) : page.total <= rowsBefore(page, number)
  if (rows.length === 0 && !isEmpty) throw changedError(action, 'rows', page.rows)
  return rows
}

/** The page in a body, checked as by `checkedRows`, and its rows. @param name see `pageOf`. */
export function checkedPage(action: Action, body: unknown, number: number, name?: string): Page {
  const page = pageOf(body, name)
  const rows = checkedRows(action, page, number)
  if (rows.length > 0 && !rows.some(hasId) && (number === 1 || rows.length > 1)) {
    // A single row at the end of a list may be one bad row, which is skipped.
    throw changedError(action, 'id in any row', rows[0])
  }
  return { ...page, rows }
}

/** Checks the groups of a device list or a history. @param raw the list of them, as the platform sent it. */
export function checkGroups(action: Action, raw: unknown): void {
  const groups = itemsOf(raw)
  if (groups.length === 0) {
    if (isUnreadList(raw)) throw changedError(action, 'groups', raw)
  } else if (!groups.some((group) => isObject(group) && 'items' in group && !isUnread(group.items))) {
    throw changedError(action, 'items in any group', groups[0] ?? raw)
  }
}

/** The kinds of groups in a history (platform.md 6.2). */
const groupStatus = /^[1-5]$/

/**
 * The history itself, unless its groups or points have lost the fields that it is made of.
 * @param raw the response. @param isTime whether a time can be read. @param point returns the names in one of the points.
 */
export function checkedHistory(
  history: WireHistory,
  raw: unknown,
  isTime: (value: Scalar) => boolean,
  point: () => object | undefined = () => undefined,
): WireHistory {
  const action = 'get_history'
  const sent = isObject(raw) ? raw.items : undefined
  checkGroups(action, sent)
  const { items: groups } = history
  if (groups.length > 0 && !groups.some(({ status }) => groupStatus.test(String(status))))
    throw changedError(action, 'status in any group', itemsOf(sent)[0])
  const points = groups.flatMap(({ items }) => items)
  if (points.length === 0 && itemsOf(sent).some((group) => isObject(group) && itemsOf(group.items).length > 0))
    throw changedError(action, 'record in any point')
  // Events may have no place.
  const placed = groups.flatMap(({ status, items }) => (String(status) === '5' ? [] : items))
  const lacks = (...names: (keyof (typeof points)[number])[]): boolean =>
    placed.length > 0 && placed.every((point) => names.every((name) => point[name] === undefined))
  if (lacks('latitude', 'lat') || lacks('longitude', 'lng'))
    throw changedError(action, 'latitude or longitude in any point', point())
  if (points.length > 0 && !points.some(({ raw_time, time }) => isTime(raw_time) || isTime(time)))
    throw changedError(action, 'raw_time or time in any point', point())
  return history
}
