/** The actions about time: events, history, and what has changed since. */
import { matchingDevices } from './device-actions.js'
import { type FleetEvent, KEPT_DAYS, reportOf } from './events.js'
import { lazily } from './json-stream.js'
import { DAY } from './program.js'
import { dayOf, dayStart, lastReports, reportsBetween } from './reports.js'
import { type Action, type ActionRequest, badRequest, indexOf, ok, positive, type Result } from './request.js'
import { parseTime } from './wall-clock.js'
import { connectionOf, deviceData, latestRow, trackerIdOf } from './wire/device.js'
import { historyBody } from './wire/history.js'
import { paginator } from './wire/pages.js'
import * as records from './wire/records.js'

const MAX_EVENTS = 1000

/** Devices and events since `time`; by default of the last five seconds. */
function* getDevicesLatest(request: ActionRequest): Generator<void, Result> {
  const { account, now, query, events } = request
  yield* events.prepare()
  const since = Number.parseInt(query.get('time') ?? '', 10) || now - 5
  const isNewer = (index: number) => connectionOf(lastReports(account, index, now, 1)[0], index, now).ack > since
  const seen = matchingDevices(request).filter(isNewer)
  const recent = events.between(Math.max(since + 1, now - DAY), now, now, () => true).slice(0, MAX_EVENTS)
  return ok({
    items: lazily(seen, (index) => latestRow(account, index, now)),
    events: lazily(recent, (event) => {
      const { device_name: name, ...row } = records.eventRow(account, event)
      return { ...row, device: { id: row.device_id, name } }
    }),
    time: now,
    version: '3.7.7',
  })
}

function* getEvents({ account, now, query, events }: ActionRequest): Generator<void, Result> {
  const [dateFrom, dateTo] = [query.get('date_from'), query.get('date_to')]
  const from = dateFrom === null ? 0 : parseTime(dateFrom, account.zoneSeconds)
  const to = dateTo === null ? now : parseTime(dateTo, account.zoneSeconds)
  if (from === undefined) return badRequest('date_from', 'The date from is not a valid date.')
  if (to === undefined) return badRequest('date_to', 'The date to is not a valid date.')
  yield* events.prepare()
  const [id, type] = [query.get('device_id'), query.get('type')]
  const index = id === null ? undefined : (indexOf(account, id) ?? -1)
  const matches = (event: FleetEvent) =>
    (index === undefined || event.index === index) && (type === null || event.type === type)
  const { total, slice } = events.between(from, to, now, matches)
  const limit = Math.min(MAX_EVENTS, positive(query, 'limit', 30))
  const rows = (from: number) => slice(from, limit)
  const { data, ...page } = paginator('get_events', query, { total, limit, rows })
  return ok({ status: 1, items: { ...page, data: lazily(data, (event) => records.eventRow(account, event)) } })
}

const HISTORY_PARAMETERS = ['device_id', 'from_date', 'from_time', 'to_date', 'to_time']

/** An unknown device gets the response of one that sent nothing: the platform's own is not recorded. */
function* getHistory({ account, now, query, events }: ActionRequest): Generator<unknown, Result> {
  const { zoneSeconds } = account
  const missing = HISTORY_PARAMETERS.filter((name) => !query.has(name))
  if (missing.length > 0)
    return unprocessable(missing.map((name) => [name, `The ${name.replace('_', ' ')} field is required.`]))
  const from = parseTime(`${query.get('from_date')} ${query.get('from_time')}`, zoneSeconds)
  const to = parseTime(`${query.get('to_date')} ${query.get('to_time')}`, zoneSeconds)
  if (from === undefined) return unprocessable([['from_date', 'The from date is not a valid date.']])
  if (to === undefined) return unprocessable([['to_date', 'The to date is not a valid date.']])
  const id = Number(query.get('device_id'))
  const index = indexOf(account, query.get('device_id'))
  if (index === undefined) return ok(yield* historyBody({ zoneSeconds, trackerId: 0, device: { id } }, [], []))
  yield* events.prepare()
  const first = Math.max(from, dayStart(account, dayOf(account, now) - KEPT_DAYS))
  const last = Math.min(to, now)
  const { total, slice } = events.between(first, last, now, (event) => event.index === index)
  const shown = slice(0, total).map((event) => {
    const details = () => ({ message: records.eventMessage(account, event), report: reportOf(account, event) })
    return { at: event.at, details }
  })
  const reports = reportsBetween(account, index, first, last)
  const subject = { zoneSeconds, trackerId: trackerIdOf(account, index), device: deviceData(account, index) }
  return ok(yield* historyBody(subject, reports, shown.reverse()))
}

function unprocessable(problems: [name: string, text: string][]): Result {
  const message = problems.map(([, text]) => text).join(' ')
  const errors = Object.fromEntries(problems.map(([name, text]) => [name, [text]]))
  return { status: 422, body: { status: 0, message, errors } }
}

export const eventActions: Record<string, Action> = {
  get_devices_latest: getDevicesLatest,
  get_events: getEvents,
  get_history: getHistory,
}
