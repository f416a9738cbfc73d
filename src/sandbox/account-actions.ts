/** Pure: the actions that need nothing but the account: what was set up, not what the vehicles do. */
import type { Account } from './account.js'
import { type Answer, ok, type Query, whole } from './answer.js'
import { depthM } from './geometry.js'
import { compact, pageOf, paginator } from './wire/pages.js'
import * as records from './wire/records.js'

type AccountAction = (account: Account, query: Query) => Answer

const getUserDrivers: AccountAction = (account, query) => {
  const drivers = account.drivers.filter(({ index }) => index === undefined || index < account.devices)
  const page = pageOf('get_user_drivers', drivers.length, whole(query.page, 1), 5)
  const rows = drivers.slice(page.from, page.from + 5).map((driver) => records.driverRow(account, driver))
  return ok({ items: { drivers: paginator(page, rows) }, status: 1 })
}

/** Numbered keys beside `pagination`: how the platform's language writes a list with one named entry. */
const devicesGroups: AccountAction = (account) => {
  const rows = account.groups.map((group) => ({ ...group, user_id: account.userId, open: true }))
  return ok({ ...rows, pagination: compact(pageOf('devices_groups', rows.length, 1, 15)) })
}

const pointInGeofences: AccountAction = (account, query) => {
  const point = { lat: Number(query.lat), lng: Number(query.lng) }
  const zones = account.geofences.filter(({ active, area }) => active && depthM(area, point) > 0)
  return ok({ status: 1, zones: zones.map(({ name }) => name) })
}

export const accountActions: Record<string, AccountAction> = {
  get_geofences: (account) =>
    ok({ items: { geofences: account.geofences.map((fence) => records.geofenceRow(account, fence)) }, status: 1 }),
  get_alerts: (account) =>
    ok({ status: 1, items: { alerts: account.alerts.map((alert) => records.alertRow(account, alert)) } }),
  get_custom_events: () => ok({ items: { events: paginator(pageOf('get_custom_events', 0, 1, 10), []) }, status: 1 }),
  get_user_drivers: getUserDrivers,
  get_user_data: (account) => ok(records.userData(account)),
  edit_setup_data: (account) => ok(records.setupData(account)),
  devices_groups: devicesGroups,
  geofences_groups: () => ok({ pagination: compact(pageOf('geofences_groups', 0, 1, 15)) }),
  point_in_geofences: pointInGeofences,
  'call_actions/event_types': () => ok({ status: 1, types: records.eventTypes() }),
}
