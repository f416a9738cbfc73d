/** Pure: the actions that tell what happened: events, history, changes. */
import { type Answer, ok, type Query, refuse, whole } from './answer.js'
import { instantOf } from './clock.js'
import { type Events, type FleetEvent, KEPT_DAYS, reportOf } from './events.js'
import { DAY, dayOf, dayStart } from './fleet.js'
import { indexOf, type World } from './fleet-actions.js'
import { reportsBetween } from './reports.js'
import { imeiOf, latestRow, nameOf, trackerIdOf } from './wire/device.js'
import { historyAnswer } from './wire/history.js'
import { pageOf, paginator } from './wire/pages.js'
import * as records from './wire/records.js'

type EventAction = (world: World & { events: Events }, query: Query) => Answer

const VERSION = '3.7.7'

const getDevicesLatest: EventAction = (world, query) => {
  const { account, fleet, events, now } = world
  const since = query.time === undefined ? now - 5 : Number.parseInt(query.time, 10) || 0
  const rows = Array.from({ length: fleet.count }, (_, index) => latestRow(account, fleet, index, now))
  const fresh = [...events.between(Math.max(since + 1, now - DAY), now, now)]
  return ok({
    items: rows.filter((row) => Math.max(row.timestamp, row.acktimestamp) > since),
    events: fresh.map((event) => {
      const { device_id: id, device_name: name, ...row } = records.eventRow(account, fleet, event)
      return { ...row, device_id: id, device: { id, name } }
    }),
    time: now,
    version: VERSION,
  })
}

const getEvents: EventAction = (world, query) => {
  const { account, fleet, events, now } = world
  const from = query.date_from ? instantOf(query.date_from, account.zoneSeconds) : 0
  const to = query.date_to ? instantOf(query.date_to, account.zoneSeconds) : now
  if (from === undefined) return refuse('date_from', 'The date from is not a valid date.')
  if (to === undefined) return refuse('date_to', 'The date to is not a valid date.')
  const index = query.device_id ? (indexOf(world, query.device_id) ?? -1) : undefined
  const found = (event: FleetEvent) =>
    (index === undefined || event.index === index) &&
    (!query.type || event.type === query.type) &&
    (!query.search || records.eventMessage(account, event).toLowerCase().includes(query.search.toLowerCase()))
  const all = [...events.between(from, to, now)].filter(found)
  const page = pageOf('get_events', all.length, whole(query.page, 1), Math.min(1000, whole(query.limit, 30)))
  const rows = all.slice(page.from, page.from + page.limit).map((event) => records.eventRow(account, fleet, event))
  return ok({ status: 1, items: paginator(page, rows) })
}

const HISTORY_PARAMETERS = ['device_id', 'from_date', 'from_time', 'to_date', 'to_time']

/** An unknown device is answered like one that said nothing: the platform's own answer is not recorded. */
const getHistory: EventAction = (world, query) => {
  const { account, fleet, events, now } = world
  const missing = HISTORY_PARAMETERS.filter((name) => !query[name]).map((name) => [name, 'is required'] as const)
  const from = instantOf(`${query.from_date} ${query.from_time}`, account.zoneSeconds)
  const to = instantOf(`${query.to_date} ${query.to_time}`, account.zoneSeconds)
  if (missing.length > 0)
    return invalid(missing.map(([name]) => [name, `The ${name.replace('_', ' ')} field is required.`]))
  if (from === undefined) return invalid([['from_date', 'The from date is not a valid date.']])
  if (to === undefined) return invalid([['to_date', 'The to date is not a valid date.']])
  const index = indexOf(world, query.device_id)
  const id = Number(query.device_id)
  if (index === undefined) return ok(historyAnswer(account, { id, trackerId: 0, name: '', imei: '' }, [], []))
  const kept = Math.max(from, dayStart(fleet, dayOf(fleet, now) - KEPT_DAYS))
  const last = Math.min(to, now)
  const subject = { id, trackerId: trackerIdOf(account, index), name: nameOf(index), imei: imeiOf(account, index) }
  const told = [...events.between(kept, last, now)].filter((event) => event.index === index).reverse()
  const messages = told.map((event) => {
    return { at: event.at, message: records.eventMessage(account, event), report: reportOf(fleet, event) }
  })
  return ok(historyAnswer(account, subject, [...reportsBetween(fleet, index, kept, last)], messages))
}

function invalid(problems: (readonly [string, string])[]): Answer {
  const message = problems.map(([, text]) => text).join(' ')
  return {
    status: 422,
    body: { status: 0, message, errors: Object.fromEntries(problems.map(([name, text]) => [name, [text]])) },
  }
}

export const eventActions: Record<string, EventAction> = {
  get_devices_latest: getDevicesLatest,
  get_events: getEvents,
  get_history: getHistory,
}
