/** `GET /v1/events`: any window of the account's events. Knows no platform. */

import type { DeviceCache } from '../devices/device-cache.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account, EventFilter } from '../platform/account.js'
import type { WireEvent } from '../platform/wire.js'
import { Event, EventsQuery, newestFirst, toEvent } from '../resources/event.js'
import { envelope, ListOf } from '../resources/list.js'
import { carriesOffset, filterTime, toZone } from '../resources/zone.js'
import { queryOf, type Translate } from './query.js'

/** Events walked through for a filter that the platform does not know. */
const mostWalked = 20_000

export function events(app: App, { positions, translate }: { positions: DeviceCache; translate: Translate }): void {
  app.get(
    '/events',
    {
      schema: {
        operationId: 'listEvents',
        summary: 'List events',
        description: 'What happened, newest first. Any `limit` and `offset` work, however the platform pages.',
        tags: ['Events'],
        querystring: EventsQuery,
        response: { 200: ListOf(Event) },
      },
    },
    async (request) => {
      const { account } = request
      const { device_id: deviceId, type, from, to, limit = 50, offset = 0 } = queryOf(EventsQuery, request)
      const filter = { deviceId, type: type?.toLowerCase(), ...(await rangeOf(account, from, to)) }
      // A device that is not the account's has no events here, and the platform is not asked about it.
      if (deviceId !== undefined && !(await positions.fetch(account, deviceId))) {
        return envelope([], 0, { limit, offset })
      }
      const { rows, total } = await windowOf(account, filter, offset, limit)
      const nameOf = await namesFor(rows, positions, account)
      const items = translate('get_events', rows, (row) => toEvent(row, nameOf))
      return envelope(items.sort(newestFirst), total, { limit, offset })
    },
  )
}

/** The filter's moments on the account's clock; its zone is asked for only when a moment carries an offset. */
async function rangeOf(account: Account, from: string | undefined, to: string | undefined) {
  const isAbsolute = [from, to].some((moment) => moment !== undefined && carriesOffset(moment))
  const zone = isAbsolute ? toZone(await account.setup()) : undefined
  const range = { from: from && filterTime(from, 'from', zone), to: to && filterTime(to, 'to', zone) }
  for (const [param, sent] of Object.entries({ from, to })) {
    if (sent !== undefined && range[param as 'from' | 'to'] === undefined) {
      throw new ApiError('invalid_request', { param, message: `${param} must be an ISO 8601 date or date-time.` })
    }
  }
  if (range.from !== undefined && range.to !== undefined && range.from > range.to) {
    throw new ApiError('invalid_request', { param: 'from', message: 'from must not be after to.' })
  }
  return range
}

type Rows = { rows: WireEvent[]; total: number }

/** The window asked for. Older platforms ignore `type`: then all events are walked and the filter runs here. */
async function windowOf(account: Account, filter: EventFilter, offset: number, limit: number): Promise<Rows> {
  const found = await account.events(filter, offset, limit)
  const isOfType = (row: WireEvent): boolean => toEvent(row, () => undefined)?.type === filter.type
  if (filter.type === undefined || found.rows.every(isOfType)) return found
  const all = await account.events({ ...filter, type: undefined }, 0, mostWalked)
  const rows = all.rows.filter(isOfType)
  return { rows: rows.slice(offset, offset + limit), total: rows.length }
}

/** Device names for rows that come without one; the device list is asked for only then. */
async function namesFor(rows: WireEvent[], positions: DeviceCache, account: Account) {
  const isNamed = ({ device_name, device }: WireEvent): boolean =>
    device_name !== undefined || device.name !== undefined
  if (rows.every(isNamed)) return () => undefined
  const fleet = await positions.fetchAll(account)
  return (id: number): string | undefined => fleet.get(id)?.name
}
