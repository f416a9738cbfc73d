/** `GET /v1/events`: any window of the account's events. */
import type { DeviceCache } from '../devices/device-cache.js'
import type { Fleet } from '../devices/fleet.js'
import type { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { TooManyCalls } from '../platform/window.js'
import type { WireEvent, WireSetup } from '../platform/wire.js'
import { Event, EventsQuery, newestFirst, toEvent } from '../resources/event.js'
import { needsList, typeFilter } from '../resources/event-kind.js'
import { envelope, ListOf } from '../resources/list.js'
import { text } from '../resources/units.js'
import { carriesOffset, filterTime, toZone } from '../resources/zone.js'
import { EventReader } from './event-reader.js'
import { byId, invalid, type Needs, namesIn } from './query.js'

/**
 * Platform calls for events and their types in one request: at most 20 with account, zone and a device list of one page. The first request may
 * take two more where the platform refuses user data, and one more where it writes the wall clock as Unix time.
 */
const maxCalls = 16

/** With `after_id`, a later `from` would skip events, and a lower `limit` would save no calls: all new events are read. */
function tooMany(isFollowing: boolean): ApiError {
  const narrow = 'This needs more than 20 calls to the tracking platform: narrow it with'
  return isFollowing
    ? invalid('to', `${narrow} \`to\` or \`device_id\`.`)
    : invalid('from', `${narrow} \`from\`, \`to\` or \`device_id\`, or lower \`limit\` or \`offset\`.`)
}

const listEventsSchema = {
  operationId: 'listEvents',
  summary: 'List events',
  description:
    'Events, newest first: exactly the window of `limit` and `offset`, or a 400 if it takes too many calls to the platform. If the platform does not count what matches, `count` can be too low. To follow what happens, send the last id you have as `after_id`.',
  tags: ['Events'],
  querystring: EventsQuery,
  response: { 200: ListOf(Event, 50) },
}

export function events(app: App, { deviceCache, translate }: Needs): void {
  app.get('/events', { schema: listEventsSchema }, async (request) => {
    const { account } = request
    const { type, from, to, after_id: afterId, limit = 50, offset = 0, ...of } = request.query
    const range = await rangeOf(account, from, to)
    const { devices, fleet } = await devicesOf(deviceCache, account, of)
    if (devices.length === 0) return envelope([], 0, { limit, offset })
    const listed = type !== undefined && needsList(type) ? await account.eventTypes() : undefined
    // Where the platform ignores the id of a device, all devices were requested, too.
    const calls = of.device_id === undefined ? maxCalls : maxCalls - 1
    const reader = new EventReader(account, {
      devices,
      type: type === undefined ? undefined : typeFilter(type, listed),
      ...range,
      calls: listed ? calls - 1 : calls,
      isFollowing: afterId !== undefined,
    })
    try {
      const found = afterId === undefined ? reader.window(offset, limit) : reader.after(afterId)
      const { rows, before, total } = await found
      const [nameOf, setup] = await Promise.all([
        namesFor(rows, () => fleet ?? deviceCache.fetch(account)),
        setupFor(rows, account),
      ])
      const items = translate('get_events', rows, (row) => toEvent(row, nameOf, setup))
      items.sort(afterId === undefined ? newestFirst : byId)
      return envelope(items.slice(offset - before, offset - before + limit), total, { limit, offset })
    } catch (error) {
      throw error instanceof TooManyCalls ? tooMany(afterId !== undefined) : error
    } finally {
      reader.close()
    }
  })
}

/** The requested devices that the account has, and where they were found; `[undefined]` for all. No events of any other are requested. */
async function devicesOf(
  deviceCache: DeviceCache,
  account: Account,
  { device_id: one, device_ids: several }: Pick<EventsQuery, 'device_id' | 'device_ids'>,
): Promise<{ devices: (number | undefined)[]; fleet?: Fleet }> {
  if (one !== undefined && several !== undefined)
    throw invalid('device_ids', 'Send either `device_id` or `device_ids`.')
  const ids = one === undefined ? several : [one]
  if (ids === undefined) return { devices: [undefined] }
  const fleet = await deviceCache.fetch(account, one)
  return { devices: ids.filter((id) => fleet.has(id)), fleet }
}

/** The filter's times on the account's clock. The account's zone is loaded only for a time with a UTC offset. */
async function rangeOf(account: Account, from: string | undefined, to: string | undefined) {
  const needsZone = [from, to].some((time) => time !== undefined && carriesOffset(time))
  const zone = needsZone ? toZone(await account.setup()) : undefined
  const timeOf = (param: 'from' | 'to', sent: string | undefined): string | undefined => {
    const time = sent === undefined ? undefined : filterTime(sent, param, zone)
    if (time !== undefined || sent === undefined) return time
    const expected = 'an ISO 8601 date or date-time, such as 2026-05-11 or 2026-05-11T08:30:00Z'
    throw invalid(param, `\`${param}\` must be ${expected}.`)
  }
  const range = { from: timeOf('from', from), to: timeOf('to', to) }
  if (range.from !== undefined && range.to !== undefined && range.from > range.to)
    throw invalid('from', '`from` must not be after `to`.')
  return range
}

/** The account's setup, which has the unit of speeds; undefined if no row has a speed. */
const setupFor = async (rows: readonly WireEvent[], account: Account): Promise<WireSetup | undefined> =>
  rows.some(({ speed }) => speed !== undefined) ? await account.knownSetup() : undefined

/** Device names for rows without one. Devices are loaded only if there is such a row. */
async function namesFor(rows: WireEvent[], load: () => Fleet | Promise<Fleet>) {
  const isNamed = ({ device_name, device }: WireEvent): boolean =>
    (text(device_name) ?? text(device.name)) !== undefined
  return rows.every(isNamed) ? () => undefined : namesIn(await load())
}
