/** Detects values of platform fields that the gateway does not know, before a caller reports them. */
import { kindOf } from '../resources/event-kind.js'
import { word } from '../resources/units.js'
import type { Log } from './log.js'

const alertTypes = [
  ...['overspeed', 'stop_duration', 'offline_duration', 'move_duration', 'ignition_duration', 'idle_duration'],
  ...['ignition', 'move_start', 'driver', 'driver_unauthorized', 'geofence_in', 'geofence_out', 'geofence_inout'],
  ...['custom', 'sos', 'fuel_change', 'distance', 'poi_stop_duration', 'poi_idle_duration', 'task_status'],
  ...['device_expiration', 'unplugged', 'time_duration'],
]
type IsKnown = (value: string) => boolean

const oneOf = (...values: readonly string[]): IsKnown => {
  const known = new Set(values)
  return (value) => known.has(value)
}
/** Event types that have no kind of their own. */
const otherEvents = ['underspeed', 'expired_device', 'expiring_device', 'expired_sim', 'expiring_sim']
const isOtherEvent = oneOf(...alertTypes, ...otherEvents)

/** Per action, a field and its known values (platform.md 3.3, 4, 5, 7.2, 8). Without a required one, an amount has no unit. */
export const knownValues: ReadonlyMap<string, { field: string; isKnown: IsKnown; isRequired?: true }> = new Map([
  ['get_devices', { field: 'online', isKnown: oneOf('online', 'ack', 'engine', 'offline', 'moving') }],
  ['get_events', { field: 'type', isKnown: (word) => isOtherEvent(word) || kindOf(word, '') !== 'other' }],
  ['get_alerts', { field: 'type', isKnown: oneOf(...alertTypes) }],
  ['get_geofences', { field: 'type', isKnown: oneOf('polygon', 'circle') }],
  ['services', { field: 'expiration_by', isKnown: oneOf('odometer', 'engine_hours', 'days'), isRequired: true }],
])

/** Maximum values to report: a platform that sends more generates them, and the metric is enough. */
const maxReported = 50
const maxLength = 40

interface RowCounter {
  inc(labels: { action: string; field: string }, rows: number): void
}

/** @param log receives each value once: it is platform text, therefore truncated, and not for a metric label. */
export function unknownValues(counter: RowCounter, log: Pick<Log, 'warn'>) {
  const reported = new Set<string>()
  /** Reports a value that the caller has found to be unknown. @param rows how many rows have it. */
  const report = (action: string, field: string, sent: string, rows: number): void => {
    counter.inc({ action, field }, rows)
    const value = sent.trim().slice(0, maxLength).toLowerCase()
    const key = `${action} ${value}`
    if (reported.size >= maxReported || reported.has(key)) return
    reported.add(key)
    log.warn({ action, field, value }, 'unknown value in a platform response')
  }
  /** Checks the rows of one response. */
  const check = (action: string, rows: readonly object[]): void => {
    const known = knownValues.get(action)
    if (!known) return
    for (const row of rows) {
      const sent: unknown = Reflect.get(row, known.field)
      const missing = known.isRequired && `no ${known.field}`
      const value = (typeof sent === 'string' ? word(sent) : undefined) ?? missing
      if (value !== undefined && !known.isKnown(value)) report(action, known.field, value, 1)
    }
  }
  return { check, report }
}
