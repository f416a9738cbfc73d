/** The actions about devices: their last positions, found by every documented filter, and their maintenance services. */
import { lazily } from './json-stream.js'
import { type Planned, plannedOf, serviceAt, serviceRow, serviceText } from './maintenance.js'
import { lastReports } from './reports.js'
import { type Action, type ActionRequest, badRequest, indexOf, ok, positive, type Result } from './request.js'
import { connectionOf, deviceData, deviceRow, groupOf } from './wire/device.js'
import { compact, paginator } from './wire/pages.js'

const SEARCHED = ['imei', 'sim_number', 'vin', 'plate_number', 'registration_number', 'object_owner'] as const
const EXACT = ['id', 'device_model', 'group_id', ...SEARCHED] as const

/** The devices that pass all filters of a request; `filters[id]` is the same as `id`. */
export function* matchingDevices({ account, now, query }: ActionRequest): Generator<void, number[]> {
  const values = (name: string) => [...query.getAll(name), ...query.getAll(`filters[${name}]`)]
  const exact = EXACT.map((name) => ({ name, wanted: values(name) })).filter(({ wanted }) => wanted.length > 0)
  const phrases = ['s', 'search_phrase'].flatMap(values).map((phrase) => phrase.toLowerCase())
  const [statuses, online, offline] = [values('status'), values('online').at(-1), values('offline').at(-1)]
  const isFiltered = [exact, phrases, statuses].some(({ length }) => length > 0) || online || offline
  const passes = (index: number): boolean => {
    const data = deviceData(account, index)
    const texts = [data.name, ...SEARCHED.map((name) => data[name])].map((text) => text.toLowerCase())
    if (!exact.every(({ name, wanted }) => wanted.includes(String(data[name])))) return false
    if (!phrases.every((phrase) => texts.some((text) => text.includes(phrase)))) return false
    const connection = connectionOf(lastReports(account, index, now, 1)[0], index, now)
    const silentMinutes = (now - connection.ack) / 60
    if (statuses.length > 0 && !statuses.includes(connection.online)) return false
    return !(silentMinutes > Number(online ?? Infinity)) && !(silentMinutes <= Number(offline ?? -1))
  }
  const ids = values('id').map((id) => indexOf(account, id) ?? -1)
  const all = Array.from({ length: account.devices }, (_, index) => index)
  const matching: number[] = []
  for (const index of ids.length > 0 ? all.filter((index) => ids.includes(index)) : all) {
    if (!isFiltered || passes(index)) matching.push(index)
    yield
  }
  return matching
}

/** Without `limit` and `page` the whole fleet, as on most installations; the response has no pagination. */
function* getDevices(request: ActionRequest): Generator<void, Result> {
  const { account, now, query } = request
  let indexes = yield* matchingDevices(request)
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

/** The whole account, or one device when its id is in the path. */
function* services({ account, now, query, id }: ActionRequest): Generator<void, Result> {
  const one = indexOf(account, id)
  const [first, end] = id === undefined ? [0, account.devices] : [one ?? 0, one === undefined ? 0 : one + 1]
  const all: Planned[] = []
  for (let index = first; index < end; index++) {
    all.push(...plannedOf(index))
    yield
  }
  const row = (planned: Planned) => {
    const report = lastReports(account, planned.index, now, 1)[0]
    return serviceRow(account, serviceAt(account, planned, report, now), Boolean)
  }
  const rows = (from: number, to: number) => all.slice(from, to).map(row)
  const list = { total: all.length, limit: positive(query, 'limit', 15), rows }
  return ok({ status: 1, ...compact(paginator(id === undefined ? 'services' : `services/${one}`, query, list)) })
}

const getServices: Action = ({ account, now, query }) => {
  const id = query.get('device_id')
  if (id === null) return badRequest('device_id', 'The device id field is required.')
  const index = indexOf(account, id)
  const report = index === undefined ? undefined : lastReports(account, index, now, 1)[0]
  const all = index === undefined ? [] : plannedOf(index).map((planned) => serviceAt(account, planned, report, now))
  const rows = (from: number, to: number) =>
    all.slice(from, to).map((one) => ({ ...serviceRow(account, one, Number), expires: serviceText(one) }))
  const page = paginator('get_services', query, { total: all.length, limit: 10, rows })
  const urls = { first_page_url: `${page.url}?page=1`, last_page_url: `${page.url}?page=${page.last_page}` }
  return ok({ ...page, ...urls, path: page.url, links: [], status: 1 })
}

export const deviceActions: Record<string, Action> = {
  get_devices: getDevices,
  services,
  'services/:id': services,
  get_services: getServices,
}
