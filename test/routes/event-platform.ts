/** A platform with events of four devices, that filters and pages them in the way of a test. */
import type { RequestListener } from 'node:http'
import { type Bodies, gatewayOn, someHash, type Test } from '../helper.js'

export interface Row {
  id: number
  device_id: number
  type?: string
  message: string
  time: string
}

const words = 'zone_in overspeed custom sos driver service stop_duration geofence_in unplugged'.split(' ')
const messages = ['Zone in', 'Overspeed (90 kph)', 'Harsh braking', 'SOS', 'Driver', 'Service', 'Stop', 'In', 'Cut']

/** Newest first. @param hasTypes as platform 3.x; 2.x sends no type. */
const rowsOf = (count: number, hasTypes: boolean): Row[] =>
  Array.from({ length: count }, (_, at) => ({
    ...{ id: count - at, device_id: 1 + (at % 4), message: messages[at % words.length] ?? '' },
    ...(hasTypes ? { type: words[at % words.length] ?? '' } : {}),
    time: new Date(Date.UTC(2026, 4, 11) - at * 1_000).toISOString().slice(0, 19).replace('T', ' '),
  }))

interface EventPlatform {
  /** 2.x has pages of `perPage` rows, whatever is requested, and ignores the type. */
  generation?: '2.x' | '3.x'
  perPage?: number
  ignoresDevice?: boolean
  /** Its rows do not say their device. */
  hidesDevice?: boolean
  /** Its pages have no numbers, or only these. */
  hidesPaging?: boolean | readonly string[]
  /** Each of its pages is the first one. */
  ignoresPaging?: boolean
  /** Called with the parameters of each call for events, before its rows are selected; they are sent once its result is there. */
  onCall?: (query: URLSearchParams) => unknown
  bodies?: Bodies
}

/** A gateway on a platform with events of four devices: how to list them, all rows of the platform, and the calls that it had. */
export async function eventPlatform(t: Test, count: number, options: EventPlatform = {}) {
  const {
    generation = '3.x',
    perPage = 30,
    ignoresDevice,
    hidesDevice,
    hidesPaging,
    ignoresPaging,
    onCall,
    bodies = {},
  } = options
  const isNew = generation === '3.x'
  const all = rowsOf(count, isNew)
  const get_events: RequestListener = (request, response) => {
    const query = new URL(request.url ?? '', 'http://localhost').searchParams
    const sendAfter = onCall?.(query)
    const [id, type] = [ignoresDevice ? null : query.get('device_id'), isNew ? query.get('type')?.toLowerCase() : null]
    const rows = all.filter((row) => (!id || row.device_id === Number(id)) && (!type || row.type === type))
    const size = isNew ? Math.min(Number(query.get('limit')), 1_000) : perPage
    const page = ignoresPaging ? 1 : Number(query.get('page'))
    const rowsOfPage = rows.slice((page - 1) * size, page * size)
    const data = hidesDevice ? rowsOfPage.map(({ device_id: _, ...row }) => row) : rowsOfPage
    const paging = { total: rows.length, per_page: size, current_page: page, last_page: Math.ceil(rows.length / size) }
    const shown = Array.isArray(hidesPaging) ? hidesPaging : hidesPaging ? [] : Object.keys(paging)
    const numbers = Object.entries(paging).filter(([name]) => shown.includes(name))
    const body = JSON.stringify({ status: 1, items: { ...Object.fromEntries(numbers), data } })
    void Promise.resolve(sendAfter).then(() => response.end(body))
  }
  const { get, calls } = await gatewayOn(
    t,
    { env: { POSITION_TTL_MS: '1' } },
    {
      get_devices: [{ title: 'A', items: [1, 2, 3, 4].map((id) => ({ id, name: `Van ${id}` })) }],
      edit_setup_data: { item: { timezone_id: 57, unit_of_distance: 'km' }, timezones: [] },
      get_events,
      ...bodies,
    },
  )
  const list = (query: string) => get(`/v1/events?${query}`, someHash)
  /** Calls for events since the last time. */
  const eventCalls = (): number => calls.splice(0).filter((url) => url.includes('get_events')).length
  return { all, calls, eventCalls, list }
}
