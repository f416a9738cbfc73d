/** The events of an account. Its devices repeat every week, so one week of events is computed and all others derive from it. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Account, type Alert, maxAlertDevices } from './account.js'
import { type Area, depthM } from './geometry.js'
import { type Report, weekS } from './program.js'
import { dayOf, dayStart, isExpired, isNeverConnected, itemAt, lastReport, rankIn, timelineOf } from './reports.js'

/** `type` is the platform's word. `at` counts from the start of a program. */
type Mark = { at: number; type: string; alert: Alert; geofence: number | undefined }
/** `at` is Unix seconds; the device was where its last report at that instant says. Ids grow with time. */
export type FleetEvent = Mark & { id: number; index: number }

/** History and events are kept for 90 days of the account's clock. */
export const keptSince = (account: Account, now: number) => dayStart(account, dayOf(account, now) - 90)

/** Positions nearer to a border count as on neither side, since trackers are a few metres off. */
const borderM = 15

/** Not an alert of the account: the platform creates the reminders of maintenance services itself. */
const serviceReminder: Alert = {
  ...{ id: 0, type: 'service', name: 'Service due', active: true, value: 0, geofences: [], nth: 9 },
}

/** `at` is Unix seconds in the first week, `id` counts from its first event. */
const firstWeeks = new WeakMap<Account, FleetEvent[]>()

/** Computes the week in small steps, so that other requests can run in between. */
async function weekOf(account: Account): Promise<FleetEvent[]> {
  const known = firstWeeks.get(account)
  if (known) return known
  const marks = new Map<Report[], Mark[]>()
  const hours = Array.from({ length: weekS / 3600 }, (): FleetEvent[] => [])
  for (let index = 0; index < Math.min(account.devices, maxAlertDevices); index++) {
    if (isExpired(index) || isNeverConnected(index)) continue
    const { program, start } = timelineOf(account, index)
    await nextTurn()
    if (!marks.has(program)) marks.set(program, await allMarks(account, program))
    for (const mark of marks.get(program)!) {
      const at = (start + mark.at) % weekS
      if (index % mark.alert.nth === 0) hours[Math.floor(at / 3600)]?.push({ ...mark, id: 0, index, at })
    }
  }
  const week: FleetEvent[] = []
  for (const hour of hours) {
    await nextTurn()
    hour.sort((a, b) => a.at - b.at || a.index - b.index)
    for (const event of hour) week.push({ ...event, id: week.length })
  }
  firstWeeks.set(account, week)
  return week
}

type Matches = (event: FleetEvent) => boolean

/** The events in [from, to], Unix seconds, that match and are not older than the kept days, newest first. */
export async function eventsBetween(account: Account, from: number, to: number, now: number, matches: Matches) {
  const week = await weekOf(account)
  const found = week.filter(matches)
  const eventAt = (rank: number): FleetEvent => {
    const { item, weeks } = itemAt(found, rank)
    const id = 2 * (weeks * week.length + item.id) + (account.userId % 2)
    return { ...item, id, at: weeks * weekS + item.at }
  }
  const end = rankIn(found, Math.min(to, now) + 1)
  const length = Math.max(0, end - rankIn(found, Math.max(from, keptSince(account, now))))
  const slice = (from = 0, to = length) =>
    Array.from({ length: Math.max(0, Math.min(to, length) - from) }, (_, n) => eventAt(end - 1 - from - n))
  return { length, slice }
}

/** What the active alerts notice in a program, whatever device it is. */
async function allMarks(account: Account, program: Report[]): Promise<Mark[]> {
  const marks: Mark[] = []
  for (const alert of [...account.alerts, serviceReminder].filter(({ active }) => active)) {
    const geofences = account.geofences.filter(({ id }) => alert.geofences.includes(id))
    for (const geofence of geofences.length > 0 ? geofences : [undefined]) {
      const found = marksOf(alert, program, geofence?.area)
      marks.push(...found.map(([at, type]) => ({ at, type, alert, geofence: geofence?.id })))
      await nextTurn()
    }
  }
  return marks
}

type Condition = (report: Report) => boolean

function marksOf({ type, value }: Alert, program: Report[], area: Area | undefined): [at: number, type: string][] {
  const starts = (word: string, holds: Condition, minutes = 0) =>
    startsOf(program, holds, minutes).map((at): [number, string] => [at, word])
  switch (type) {
    case 'overspeed':
      return starts(type, ({ speedKmh }) => speedKmh > value)
    case 'idle_duration':
      return starts(type, ({ ignition, driving }) => ignition && !driving, value)
    case 'stop_duration':
      return starts(type, ({ driving }) => !driving, value)
    case 'ignition':
      return [...starts('ignition_on', (r) => r.ignition), ...starts('ignition_off', (r) => !r.ignition)]
    case 'sos':
      return [[program[program.length >> 1]!.at, type]]
    case 'service':
      return [[program[program.length >> 2]!.at, type]]
    case 'custom': {
      const change = (n: number) => Math.sign(value) * (program[n]!.speedKmh - (program[n - 1]?.speedKmh ?? 0))
      return program.filter((_, n) => change(n) > Math.abs(value)).map(({ at }) => [at, type])
    }
    case 'offline_duration': {
      const silent = program.filter(({ at }, n) => (program[n + 1]?.at ?? weekS) - at > value * 60)
      return silent.map(({ at }) => [at + value * 60, type])
    }
  }
  const direction = { geofence_in: 'zone_in', geofence_out: 'zone_out' }[type]
  return crossingsOf(program, area!).filter(([, word]) => direction === undefined || word === direction)
}

/** When the condition starts to hold, or has held for so many minutes. */
function startsOf(program: Report[], holds: Condition, minutes: number): number[] {
  const starts: number[] = []
  let since: number | undefined
  for (const report of program) {
    since = holds(report) ? (since ?? report.at) : undefined
    if (since === undefined || report.at - since < minutes * 60) continue
    starts.push(report.at)
    since = Number.POSITIVE_INFINITY
  }
  return starts
}

function crossingsOf(program: Report[], area: Area): [at: number, type: string][] {
  const crossings: [number, string][] = []
  let inside = depthM(area, program[0]!) > 0
  for (const report of program) {
    const depth = depthM(area, report)
    if (Math.abs(depth) < borderM || depth > 0 === inside) continue
    inside = depth > 0
    crossings.push([report.at, inside ? 'zone_in' : 'zone_out'])
  }
  return crossings
}

export const reportOf = (account: Account, { index, at }: FleetEvent): Report => lastReport(account, index, at)!
