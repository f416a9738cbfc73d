/** Pure: the actions about vehicles that need no events: where they are and which maintenance services they have. */
import type { Account } from './account.js'
import { type Answer, ok, type Query, refuse, whole } from './answer.js'
import type { Fleet } from './fleet.js'
import { serviceOwners, servicesOf } from './maintenance.js'
import { deviceData, deviceRow, groupOf, imeiOf, nameOf } from './wire/device.js'
import { compact, flatPaginator, pageOf } from './wire/pages.js'
import { newerServiceRow, spokenServiceRow } from './wire/service.js'

/** An account with its vehicles; `now` is Unix seconds. */
export type World = { account: Account; fleet: Fleet; now: number }
type FleetAction = (world: World, query: Query, id?: string) => Answer

/** The place of a device in its fleet; undefined when it is not one of this account's. */
export function indexOf({ account, fleet }: World, id: string | undefined): number | undefined {
  const index = /^\d{1,9}$/.test(id ?? '') ? Number(id) - account.firstId : -1
  return index >= 0 && index < fleet.count ? index : undefined
}

function chosen(world: World, query: Query): number[] {
  const { account, fleet } = world
  if (query.id !== undefined) return [indexOf(world, query.id)].filter((index) => index !== undefined)
  const words = query.s?.toLowerCase()
  const matches = (index: number) =>
    (!words || nameOf(index).toLowerCase().includes(words) || imeiOf(account, index).includes(words)) &&
    (query.imei === undefined || imeiOf(account, index) === query.imei) &&
    (query.group_id === undefined || String(groupOf(account, index).id) === query.group_id)
  return Array.from({ length: fleet.count }, (_, index) => index).filter(matches)
}

/** Without `limit` and `page` the whole fleet, as installations do; the reply itself says nothing of pages. */
const getDevices: FleetAction = (world, query) => {
  const { account, fleet, now } = world
  let indexes = chosen(world, query)
  if (query.limit !== undefined || query.page !== undefined) {
    const limit = whole(query.limit, 100)
    const from = (whole(query.page, 1) - 1) * limit
    indexes = indexes.slice(from, from + limit)
  }
  const groups = new Map<number, { id: number; title: string; items: unknown[] }>()
  for (const index of indexes) {
    const group = groupOf(account, index)
    if (!groups.has(group.id)) groups.set(group.id, { ...group, items: [] })
    groups.get(group.id)!.items.push(deviceRow(account, fleet, index, now))
  }
  return ok([...groups.values()].sort((a, b) => a.id - b.id))
}

/** Whole account, or one device when its id is in the path. */
const services: FleetAction = (world, query, id) => {
  const { account, fleet, now } = world
  const one = indexOf(world, id)
  const owners = serviceOwners(account).filter((index) => id === undefined || index === one)
  const path = id === undefined ? 'services' : `services/${one ?? 0}`
  const page = pageOf(path, owners.length, whole(query.page, 1), whole(query.limit, 15))
  const shown = owners.slice(page.from, page.from + page.limit)
  const first = owners.indexOf(shown[0] ?? -1)
  const rows = [...new Set(shown)].flatMap((index) => servicesOf(account, fleet, index, now))
  const skip = Math.max(0, page.from - first)
  const data = rows.slice(skip, skip + shown.length).map((service) => {
    const row = newerServiceRow(account, service)
    return query.includes === 'device' ? { ...row, device: deviceData(account, service.index) } : row
  })
  return ok({ status: 1, data, pagination: compact(page) })
}

const getServices: FleetAction = (world, query) => {
  if (!query.device_id) return refuse('device_id', 'The device id field is required.')
  const { account, fleet, now } = world
  const index = indexOf(world, query.device_id)
  const all = index === undefined ? [] : servicesOf(account, fleet, index, now)
  const page = pageOf('get_services', all.length, whole(query.page, 1), 10)
  return ok(
    flatPaginator(
      page,
      all.slice(page.from, page.from + 10).map((service) => spokenServiceRow(account, service)),
    ),
  )
}

export const fleetActions: Record<string, FleetAction> = {
  get_devices: getDevices,
  services,
  'services/:id': services,
  get_services: getServices,
}
