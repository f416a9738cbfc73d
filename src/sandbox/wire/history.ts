/** The reports of a device in the platform's history, cut into drives and stops. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Account } from '../account.js'
import { type FleetEvent, reportOf } from '../events.js'
import { lazily } from '../json-stream.js'
import type { Report } from '../program.js'
import { positionId } from '../reports.js'
import { displayTime, durationText, rawTime } from '../wall-clock.js'
import { eventMessage } from './records.js'

type Subject = { account: Account; device: { id: number; traccar_device_id?: number } }
/** Reports of one drive or stop, between two times. `before`: last report of the previous stretch, with which a drive begins. */
type Stretch = { reports: Report[]; driving: boolean; before: Report; from: number; until: number }

const fixedFields = {
  sensors: [{ id: 'speed', name: 'Speed', sufix: 'kph' }],
  item_class: ['drive', 'stop', 'start', 'end', 'event'].map((value, n) => ({ id: n + 1, value, title: value })),
  ...{ fuel_consumption: null, fuel_consumption_arr: [], images: [], status: 1 },
}

const cents = (value: number) => Math.round(value * 100) / 100
const topSpeed = (reports: Report[]) => reports.reduce((max, { speedKmh }) => Math.max(max, speedKmh), 0)

/** The whole response; without reports that of a device that sent nothing. */
export async function historyBody(subject: Subject, reports: Iterable<Report>, events: FleetEvent[]) {
  const runs: Report[][] = []
  for (const report of reports) {
    const run = runs.at(-1) ?? []
    // One report alone is no first stretch: its device is just leaving, or has just arrived.
    const isFirst = runs.length === 1 && run.length === 1
    if (isFirst || run.at(-1)?.driving === report.driving) run.push(report)
    else {
      runs.push([report])
      // Others run in between: a long history has thousands of stretches.
      await nextTurn()
    }
  }
  const [first, last] = [runs[0]?.[0], runs.at(-1)?.at(-1)]
  const stretches = runs.map((reports, n): Stretch => {
    const { driving, at: end } = reports.at(-1)!
    const before = runs[n - 1]?.at(-1) ?? reports[0]!
    const [from, until] = driving ? [before.at, runs[n + 1]?.[0]?.at ?? end] : [reports[0]!.at, end]
    return { reports, driving, before, from, until }
  })
  const seconds = (driving: boolean) =>
    stretches.reduce((sum, stretch) => sum + (stretch.driving === driving ? stretch.until - stretch.from : 0), 0)
  return {
    ...fixedFields,
    items: first && last ? groupsOf(subject, stretches, events, first, last) : [],
    device: subject.device,
    distance_sum: `${cents((last?.km ?? 0) - (first?.km ?? 0))} Km`,
    top_speed: `${Math.max(0, ...runs.map(topSpeed))} kph`,
    move_duration: durationText(seconds(true)),
    stop_duration: durationText(seconds(false)),
  }
}

/** The start, then drives, stops and events in order of time, then the end; made when they are read. */
function groupsOf(subject: Subject, stretches: Stretch[], events: FleetEvent[], first: Report, last: Report) {
  const edge = (status: 3 | 4, report: Report) => {
    const items = pointsOf(subject, [report], report)
    return { ...shown(subject, report.at), status, time: null, distance: 0, driver: null, items }
  }
  const groups = [
    ...stretches.map((stretch, n) => ({ at: stretch.from, make: () => stretchGroup(subject, stretch, n + 1) })),
    ...events.map((event) => ({ at: event.at, make: () => eventGroup(subject, event) })),
  ].sort((a, b) => a.at - b.at)
  return lazily([() => edge(3, first), ...groups.map(({ make }) => make), () => edge(4, last)], (make) => make())
}

function shown({ account: { zoneSeconds } }: Subject, at: number) {
  return { show: displayTime(at, zoneSeconds), raw_time: rawTime(at, zoneSeconds) }
}

function stretchGroup(subject: Subject, { reports, driving, before, from, until }: Stretch, index: number) {
  const [seconds, km] = [until - from, reports.at(-1)!.km - before.km]
  return {
    ...shown(subject, from),
    left: shown(subject, until).show,
    status: driving ? 1 : 2,
    index,
    time: durationText(seconds),
    time_seconds: seconds,
    distance: cents(km),
    top_speed: topSpeed(reports),
    average_speed: Math.round((km / Math.max(1, seconds)) * 3600),
    driver: null,
    items: pointsOf(subject, reports, before),
  }
}

function pointsOf(subject: Subject, reports: Report[], before: Report) {
  let last = before
  return lazily(reports, (report) => {
    const { at, lat, lng, altitude, course, speedKmh: speed, ignition } = report
    const { show, raw_time } = shown(subject, at)
    const distance = report.km - last.km
    last = report
    return {
      id: positionId(at),
      device_id: subject.device.traccar_device_id,
      time: show,
      raw_time,
      altitude,
      course,
      speed,
      latitude: lat,
      longitude: lng,
      lat,
      lng,
      distance,
      other: `<info><ignition>${ignition}</ignition></info>`,
      other_arr: [`ignition: ${ignition}`],
      sensors_data: [{ id: 'speed', value: speed }],
    }
  })
}

function eventGroup(subject: Subject, event: FleetEvent) {
  const report = reportOf(subject.account, event)
  const message = eventMessage(subject.account, event)
  const { show, raw_time } = shown(subject, event.at)
  const place = { lat: report.lat.toFixed(12), lng: report.lng.toFixed(12) }
  const items = [{ other: '', speed: report.speedKmh, time: show, raw_time, ...place }]
  return { status: 5, time: null, distance: 0, show, raw_time, message, items }
}
