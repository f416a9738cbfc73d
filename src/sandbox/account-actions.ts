/** The actions that need only the account: its geofences, alerts, drivers, groups and settings, and addresses. */
import { addressAt } from './address.js'
import { type Action, badRequest, ok, positive } from './request.js'
import { compact, paginator } from './wire/pages.js'
import * as records from './wire/records.js'

const getUserDrivers: Action = ({ account, query }) => {
  const drivers = account.drivers.filter(({ index }) => index === undefined || index < account.devices)
  const rows = (from: number, to: number) => drivers.slice(from, to).map((driver) => records.driverRow(account, driver))
  const page = paginator('get_user_drivers', query, { total: drivers.length, limit: 5, rows })
  return ok({ items: { drivers: page }, status: 1 })
}

/** Numbered keys beside `pagination`, as PHP encodes a list with one named entry. */
const devicesGroups: Action = ({ account, query }) => {
  const phrase = query.get('search_phrase')?.toLowerCase() ?? ''
  const found = account.groups.filter(({ title }) => title.toLowerCase().includes(phrase))
  const rows = (from: number, to: number) =>
    found.slice(from, to).map((group) => ({ ...group, user_id: account.userId, open: true }))
  const list = { total: found.length, limit: positive(query, 'limit', 15), rows }
  const { data, pagination } = compact(paginator('devices_groups', query, list))
  return ok({ ...data, pagination })
}

const addressOf = (query: URLSearchParams) =>
  addressAt({ lat: Number(query.get('lat')), lng: Number(query.get('lng') ?? query.get('lon')) })

/** A plain text; `-` where there is no address. */
const address: Action = ({ query }) => ok(addressOf(query)?.address ?? '-')

const reverse: Action = ({ query }) => {
  const location = addressOf(query)
  return location ? ok({ status: 1, location }) : badRequest('lat', 'The lat is not a valid place.')
}

export const accountActions: Record<string, Action> = {
  get_geofences: ({ account }) =>
    ok({ items: { geofences: account.geofences.map((fence) => records.geofenceRow(account, fence)) }, status: 1 }),
  get_alerts: ({ account }) =>
    ok({ status: 1, items: { alerts: account.alerts.map((alert) => records.alertRow(account, alert)) } }),
  get_user_drivers: getUserDrivers,
  get_user_data: ({ account }) => ok(records.userData(account)),
  edit_setup_data: ({ account }) => ok(records.setupData(account)),
  devices_groups: devicesGroups,
  address,
  'address/reverse': reverse,
  geo_address: address,
}
