/** Pure: the reports of a vehicle as the platform's history shows them, cut into drives and stops (`platform.md` 6). */
import type { Account } from '../account.js'
import { displayTime, durationText, rawTime } from '../clock.js'
import { distanceM } from '../geometry.js'
import type { Report } from '../tour.js'

/** What the history says of an event between the points. */
export type Told = { at: number; message: string; report: Report }
type Subject = { id: number; trackerId: number; name: string; imei: string }
type Point = ReturnType<typeof pointOf>
type Stretch = { driving: boolean; reports: Report[]; points: Point[]; until: number }

const CLASSES = ['Drive', 'Stop', 'Start', 'End', 'Event'].map((title, n) => ({
  id: n + 1,
  value: title.toLowerCase(),
  title,
}))
/** After a silence this long the tracker wakes up with a point that has no fix yet. */
const COLD_START_SECONDS = 1500

/** The number of a position in the tracker's own table: one a second at most, and growing. */
export const positionId = (at: number) => at - 1_600_000_000
const cents = (value: number) => Math.round(value * 100) / 100

/** The whole answer; without reports that of a device that said nothing. */
export function historyAnswer(account: Account, subject: Subject, reports: Report[], events: Told[]) {
  const stretches = stretchesOf(account, subject, reports)
  const seconds = (driving: boolean) =>
    stretches.filter((s) => s.driving === driving).reduce((sum, s) => sum + s.until - s.reports[0]!.at, 0)
  const km = stretches.reduce((sum, stretch) => sum + kmOf(stretch), 0)
  const top = reports.reduce((most, report) => Math.max(most, report.speedKmh), 0)
  const engine = reports.length > 0 ? reports.at(-1)!.engineSeconds - reports[0]!.engineSeconds : 0
  return {
    items: groupsOf(account, stretches, events),
    device: { id: subject.id, traccar_device_id: subject.trackerId, name: subject.name, imei: subject.imei },
    distance_sum: `${cents(km)} Km`,
    top_speed: `${top} kph`,
    move_duration: durationText(seconds(true)),
    stop_duration: durationText(seconds(false)),
    engine_hours: durationText(engine),
    fuel_consumption: null,
    sensors: [
      { id: 'speed', name: 'Speed', sufix: 'kph' },
      { id: 'altitude', name: 'Altitude', sufix: 'm' },
    ],
    fuel_consumption_arr: [],
    item_class: CLASSES,
    images: [],
    status: 1,
  }
}

function stretchesOf(account: Account, subject: Subject, reports: Report[]): Stretch[] {
  const stretches: Stretch[] = []
  let number = 0
  for (const [n, report] of reports.entries()) {
    const before = reports[n - 1]
    let stretch = stretches.at(-1)
    if (stretch?.driving !== report.driving) {
      if (stretch) stretch.until = report.at
      stretch = { driving: report.driving, reports: [], points: [], until: report.at }
      stretches.push(stretch)
    }
    if (before && report.at - before.at > COLD_START_SECONDS)
      stretch.points.push(
        pointOf(account, subject, { ...report, at: report.at - 4, lat: 0, lng: 0, altitude: 0 }, ++number, 0),
      )
    stretch.points.push(pointOf(account, subject, report, ++number, before ? distanceM(before, report) / 1000 : 0))
    stretch.reports.push(report)
    stretch.until = report.at
  }
  return stretches
}

const kmOf = (stretch: Stretch) => stretch.points.reduce((sum, point) => sum + point.distance, 0)

function pointOf(account: Account, subject: Subject, report: Report, number: number, distance: number) {
  const { at, lat, lng, altitude, course, speedKmh: speed, ignition } = report
  const found = lat !== 0
  return {
    id: positionId(at),
    device_id: subject.trackerId,
    item_id: `i${number}`,
    time: displayTime(at, account.zoneSeconds),
    raw_time: rawTime(at, account.zoneSeconds),
    altitude,
    course,
    speed,
    latitude: lat,
    longitude: lng,
    lat,
    lng,
    distance,
    other: `<info><ignition>${ignition}</ignition></info>`,
    color: 'blue',
    valid: found ? 1 : 0,
    device_time: rawTime(at, 0),
    server_time: rawTime(at + 1, 0),
    other_arr: [`ignition: ${ignition}`],
    sensors_data: [
      { id: 'speed', value: speed },
      { id: 'altitude', value: altitude },
    ],
  }
}

function groupsOf(account: Account, stretches: Stretch[], events: Told[]) {
  const first = stretches[0]
  const last = stretches.at(-1)
  if (!first || !last) return []
  const between = [
    ...stretches.map((stretch, n) => ({ at: stretch.reports[0]!.at, group: stretchGroup(account, stretch, n + 1) })),
    ...events.map((event) => ({ at: event.at, group: eventGroup(account, event) })),
  ].sort((a, b) => a.at - b.at)
  return [
    edgeGroup(account, 3, first.reports[0]!.at, first.points.find((point) => point.valid)!),
    ...between.map(({ group }) => group),
    edgeGroup(account, 4, last.reports.at(-1)!.at, last.points.at(-1)!),
  ]
}

const shown = (account: Account, at: number) => ({
  show: displayTime(at, account.zoneSeconds),
  raw_time: rawTime(at, account.zoneSeconds),
})

/** The first and the last point of the period once more, under a group of their own. */
function edgeGroup(account: Account, status: 3 | 4, at: number, point: Point) {
  return { status, time: null, ...shown(account, at), distance: 0, driver: null, items: [point] }
}

function stretchGroup(account: Account, stretch: Stretch, index: number) {
  const [first, last] = [stretch.reports[0]!, stretch.reports.at(-1)!]
  const seconds = stretch.until - first.at
  const km = kmOf(stretch)
  const engine = last.engineSeconds - first.engineSeconds
  return {
    status: stretch.driving ? 1 : 2,
    index,
    time: durationText(seconds),
    ...shown(account, first.at),
    left: displayTime(stretch.until, account.zoneSeconds),
    distance: cents(km),
    time_seconds: seconds,
    engine_work: stretch.driving ? engine : 0,
    engine_idle: stretch.driving ? 0 : engine,
    engine_hours: engine,
    fuel_consumption: null,
    top_speed: stretch.reports.reduce((most, report) => Math.max(most, report.speedKmh), 0),
    average_speed: seconds > 0 ? Math.round((km / seconds) * 3600) : 0,
    driver: null,
    items: stretch.points,
  }
}

function eventGroup(account: Account, { at, message, report }: Told) {
  const { show: time, raw_time } = shown(account, at)
  const place = { lat: report.lat.toFixed(12), lng: report.lng.toFixed(12) }
  return {
    ...{ status: 5, time: null, distance: 0, show: time, raw_time, message },
    items: [{ other: '', speed: report.speedKmh, time, raw_time, ...place }],
  }
}
