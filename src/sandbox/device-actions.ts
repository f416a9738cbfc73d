/** The actions about devices: their last positions, found by every documented filter, and their maintenance services. */
import { lazily } from './json-stream.js'
import { type Planned, plannedOf, serviceAt, serviceRow } from './maintenance.js'
import { lastReports } from './reports.js'
import { type Action, type ActionRequest, indexOf, ok, positive } from './request.js'
import { connectionOf, deviceData, deviceRow, groupOf } from './wire/device.js'
import { compact, paginator } from './wire/pages.js'

const SEARCHED = ['imei', 'sim_number', 'vin', 'plate_number', 'registration_number', 'object_owner'] as const
const EXACT = ['device_model', 'group_id', ...SEARCHED] as const

/** The devices that pass all filters of a request; `filters[id]` is the same as `id`. */
export function matchingDevices({ account, now, query }: ActionRequest): number[] {
  const values = (name: string) => [...query.getAll(name), ...query.getAll(`filters[${name}]`)]
  const connection = (index: number) => connectionOf(lastReports(account, index, now, 1)[0], index, now)
  const isSilent = (index: number, minutes: string) => now - connection(index).ack > Number(minutes) * 60
  const filters: ((index: number) => boolean)[] = []
  for (const name of EXACT) {
    const wanted = values(name)
    if (wanted.length > 0) filters.push((index) => wanted.includes(String(deviceData(account, index)[name])))
  }
  for (const phrase of ['s', 'search_phrase'].flatMap(values).map((phrase) => phrase.toLowerCase()))
    filters.push((index) => {
      const data = deviceData(account, index)
      return [data.name, ...SEARCHED.map((name) => data[name])].some((text) => text.toLowerCase().includes(phrase))
    })
  const statuses = values('status')
  if (statuses.length > 0) filters.push((index) => statuses.includes(connection(index).online))
  for (const minutes of values('online')) filters.push((index) => !isSilent(index, minutes))
  for (const minutes of values('offline')) filters.push((index) => isSilent(index, minutes))
  const ids = values('id').map((id) => indexOf(account, id))
  const all = Array.from({ length: account.devices }, (_, index) => index)
  const chosen = ids.length > 0 ? all.filter((index) => ids.includes(index)) : all
  return chosen.filter((index) => filters.every((passes) => passes(index)))
}

/** Without `limit` and `page` the whole fleet, as on most installations; the response has no pagination. */
const getDevices: Action = (request) => {
  const { account, now, query } = request
  let indexes = matchingDevices(request)
  if (query.has('limit') || query.has('page')) {
    const limit = positive(query, 'limit', 100)
    const from = (positive(query, 'page', 1) - 1) * limit
    indexes = indexes.slice(from, from + limit)
  }
  const groups = [{ id: 0, title: 'Ungrouped' }, ...account.groups].map((group) => {
    const members = indexes.filter((index) => groupOf(account, index).id === group.id)
    return { ...group, members, items: lazily(members, (index) => deviceRow(account, index, now)) }
  })
  return ok(groups.flatMap(({ members, ...group }) => (members.length > 0 ? [group] : [])))
}

const services: Action = ({ account, now, query }) => {
  const all = Array.from({ length: account.devices }, (_, index) => plannedOf(index)).flat()
  const row = (planned: Planned) => {
    const report = lastReports(account, planned.index, now, 1)[0]
    return serviceRow(account, serviceAt(account, planned, report, now), Boolean)
  }
  const rows = (from: number, to: number) => all.slice(from, to).map(row)
  const list = { total: all.length, limit: positive(query, 'limit', 15), rows }
  return ok({ status: 1, ...compact(paginator('services', query, list)) })
}

export const deviceActions: Record<string, Action> = { get_devices: getDevices, services }
