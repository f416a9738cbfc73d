/** The actions of the platform: what each of them responds with. */
import { addressAt } from './address.js'
import { matchingDevices } from './device-filters.js'
import { eventsBetween, type FleetEvent, keptSince } from './events.js'
import { lazily } from './json-stream.js'
import { type Planned, plannedOf, serviceAt, serviceRow } from './maintenance.js'
import { dayS } from './program.js'
import { lastReport, reportsBetween } from './reports.js'
import { type Action, badRequest, indexOf, ok, paginator, positive, type Result } from './request.js'
import { parseTime } from './wall-clock.js'
import { connectionOf, deviceData, deviceRow, groupOf, latestRow } from './wire/device.js'
import { historyBody } from './wire/history.js'
import * as records from './wire/records.js'

const maxEvents = 1000
const historyParameters = ['device_id', 'from_date', 'from_time', 'to_date', 'to_time']

function unprocessable(names: string[], what: string): Result {
  const errors = Object.fromEntries(names.map((name) => [name, [`The ${name.replace('_', ' ')} ${what}`]]))
  return { status: 422, body: { status: 0, message: Object.values(errors).join(' '), errors } }
}

/** A plain text; `-` where there is no address. */
const addressIn = (query: URLSearchParams): string =>
  addressAt({ lat: Number(query.get('lat')), lng: Number(query.get('lng') ?? query.get('lon')) }) ?? '-'
const address: Action = ({ query }) => ok(addressIn(query))

export const actions: Record<string, Action> = {
  get_geofences: ({ account }) =>
    ok({ items: { geofences: account.geofences.map((fence) => records.geofenceRow(account, fence)) }, status: 1 }),
  get_alerts: ({ account }) =>
    ok({ status: 1, items: { alerts: account.alerts.map((alert) => records.alertRow(account, alert)) } }),
  get_user_data: ({ account }) => ok(records.userData(account)),
  edit_setup_data: ({ account }) => ok(records.setupData(account)),
  'call_actions/event_types': () => ok({ status: 1, types: records.eventTypes }),
  address,
  geo_address: address,
  'address/reverse': ({ query }) => ok({ status: 1, location: { address: addressIn(query) } }),
  /** Numbered keys beside `pagination`, as PHP encodes a list with one named entry. */
  devices_groups({ account, query }) {
    const phrase = query.get('search_phrase')?.toLowerCase() ?? ''
    const found = account.groups.filter(({ title }) => title.toLowerCase().includes(phrase))
    const { data, ...pagination } = paginator('devices_groups', query, found, positive(query, 'limit', 15))
    return ok({ ...data, pagination })
  },
  get_user_drivers({ account, query }) {
    const drivers = account.drivers.filter(({ index }) => index === undefined || index < account.devices)
    const rows = drivers.map((driver) => records.driverRow(account, driver))
    return ok({ items: { drivers: paginator('get_user_drivers', query, rows, 5) }, status: 1 })
  },
  /** Without `limit` and `page` the whole fleet, as on most installations; the response has no pagination. */
  get_devices(request) {
    const { account, now, query } = request
    const found = matchingDevices(request)
    const isPaged = query.has('limit') || query.has('page')
    const indexes = isPaged ? paginator('get_devices', query, found, positive(query, 'limit', 100)).data : found
    const groups = account.groups.flatMap((group) => {
      const members = indexes.filter((index) => groupOf(account, index) === group)
      return members.length > 0 ? [{ ...group, items: lazily(members, (index) => deviceRow(account, index, now)) }] : []
    })
    return ok(groups)
  },
  /** Devices and events since `time`; by default of the last five seconds. */
  async get_devices_latest(request) {
    const { account, now, query } = request
    const time = Number.parseInt(query.get('time') ?? '', 10)
    const since = Number.isNaN(time) ? now - 5 : time
    const isNewer = (index: number) => connectionOf(lastReport(account, index, now), index, now).ack > since
    const seen = matchingDevices(request).filter(isNewer)
    const recent = await eventsBetween(account, Math.max(since + 1, now - dayS), now, now, () => true)
    return ok({
      items: lazily(seen, (index) => latestRow(account, index, now)),
      events: lazily(recent.slice(0, maxEvents), (event) => {
        const { device_name: name, ...row } = records.eventRow(account, event)
        return { ...row, device: { id: row.device_id, name } }
      }),
      ...{ time: now, version: '3.7.7' },
    })
  },
  services({ account, now, query }) {
    const all = Array.from({ length: account.devices }, (_, index) => plannedOf(index)).flat()
    const row = (planned: Planned) => serviceRow(account, serviceAt(account, planned, now), Boolean)
    const { data, ...pagination } = paginator('services', query, all, positive(query, 'limit', 15))
    return ok({ status: 1, data: data.map(row), pagination })
  },
  async get_events({ account, now, query }) {
    const [dateFrom, dateTo] = [query.get('date_from'), query.get('date_to')]
    const from = dateFrom === null ? 0 : parseTime(dateFrom, account.zoneSeconds)
    const to = dateTo === null ? now : parseTime(dateTo, account.zoneSeconds)
    if (from === undefined) return badRequest('date_from', 'The date from is not a valid date.')
    if (to === undefined) return badRequest('date_to', 'The date to is not a valid date.')
    const [id, type] = [query.get('device_id'), query.get('type')]
    const index = id === null ? undefined : (indexOf(account, id) ?? -1)
    const matches = (event: FleetEvent) =>
      (index === undefined || event.index === index) && (type === null || event.type === type)
    const limit = Math.min(maxEvents, positive(query, 'limit', 30))
    const events = await eventsBetween(account, from, to, now, matches)
    const { data, ...page } = paginator('get_events', query, events, limit)
    return ok({ status: 1, items: { ...page, data: lazily(data, (event) => records.eventRow(account, event)) } })
  },
  /** An unknown device gets the response of one that sent nothing: the platform's own is not recorded. */
  async get_history({ account, now, query }) {
    const { zoneSeconds } = account
    const missing = historyParameters.filter((name) => !query.has(name))
    if (missing.length > 0) return unprocessable(missing, 'field is required.')
    const from = parseTime(`${query.get('from_date')} ${query.get('from_time')}`, zoneSeconds)
    const to = parseTime(`${query.get('to_date')} ${query.get('to_time')}`, zoneSeconds)
    if (from === undefined) return unprocessable(['from_date'], 'is not a valid date.')
    if (to === undefined) return unprocessable(['to_date'], 'is not a valid date.')
    const id = Number(query.get('device_id'))
    const index = indexOf(account, query.get('device_id'))
    if (index === undefined) return ok(await historyBody({ account, device: { id } }, [], []))
    const first = Math.max(from, keptSince(account, now))
    const last = Math.min(to, now)
    const events = await eventsBetween(account, first, last, now, (event) => event.index === index)
    const reports = reportsBetween(account, index, first, last)
    return ok(await historyBody({ account, device: deviceData(account, index) }, reports, events.slice().reverse()))
  },
}
