/** `GET /v1/events`: any window of the account's events. */
import type { DeviceCache } from '../devices/device-cache.js'
import type { App } from '../http/types.js'
import type { Account, EventFilter } from '../platform/account.js'
import type { WireEvent } from '../platform/wire.js'
import { Event, EventsQuery, newestFirst, toEvent } from '../resources/event.js'
import { envelope, ListOf } from '../resources/list.js'
import { carriesOffset, filterTime, toZone } from '../resources/zone.js'
import { invalid, queryOf, type Translate } from './query.js'

/** Events to load at most to apply a filter that the platform ignores. */
const maxScanned = 20_000

export function events(app: App, { deviceCache, translate }: { deviceCache: DeviceCache; translate: Translate }): void {
  app.get(
    '/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'List events',
        description: 'Events, newest first. Any `limit` and `offset` within the bounds returns exactly that window.',
        tags: ['Events'],
        querystring: EventsQuery,
        response: { 200: ListOf(Event) },
      },
    },
    async (request) => {
      const { account } = request
      const { device_id: deviceId, type, from, to, limit = 50, offset = 0 } = queryOf(EventsQuery, request)
      const filter = { deviceId, type: type?.toLowerCase(), ...(await rangeOf(account, from, to)) }
      // No platform call for a device of another account.
      if (deviceId !== undefined && !(await deviceCache.fetch(account, deviceId))) {
        return envelope([], 0, { limit, offset })
      }
      const { rows, total } = await windowOf(account, filter, offset, limit)
      const nameOf = await namesFor(rows, deviceCache, account)
      const items = translate('get_events', rows, (row) => toEvent(row, nameOf))
      return envelope(items.sort(newestFirst), total, { limit, offset })
    },
  )
}

/** The filter's times on the account's clock. The account's zone is loaded only for a time with a UTC offset. */
async function rangeOf(account: Account, from: string | undefined, to: string | undefined) {
  const sent = { from, to }
  const needsZone = Object.values(sent).some((time) => time !== undefined && carriesOffset(time))
  const zone = needsZone ? toZone(await account.setup()) : undefined
  const range = { from: from && filterTime(from, 'from', zone), to: to && filterTime(to, 'to', zone) }
  for (const param of ['from', 'to'] as const) {
    if (sent[param] === undefined || range[param] !== undefined) continue
    throw invalid(
      param,
      `\`${param}\` must be an ISO 8601 date or date-time, such as 2026-05-11 or 2026-05-11T08:30:00Z.`,
    )
  }
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw invalid('from', '`from` must not be after `to`.')
  }
  return range
}

/** The requested window. Older platforms ignore `type`: then all events are loaded and filtered here. */
async function windowOf(
  account: Account,
  filter: EventFilter,
  offset: number,
  limit: number,
): Promise<{ rows: WireEvent[]; total: number }> {
  const found = await account.events(filter, offset, limit)
  const isOfType = (row: WireEvent): boolean => toEvent(row, () => undefined)?.type === filter.type
  if (filter.type === undefined || found.rows.every(isOfType)) return found
  const all = await account.events({ ...filter, type: undefined }, 0, maxScanned)
  const rows = all.rows.filter(isOfType)
  return { rows: rows.slice(offset, offset + limit), total: rows.length }
}

/** Device names for rows without one. The device list is loaded only if there is such a row. */
async function namesFor(rows: WireEvent[], deviceCache: DeviceCache, account: Account) {
  const isNamed = ({ device_name, device }: WireEvent): boolean =>
    device_name !== undefined || device.name !== undefined
  if (rows.every(isNamed)) return () => undefined
  const devices = await deviceCache.fetchAll(account)
  return (id: number): string | undefined => devices.get(id)?.name
}
