/** What a device row says about the vehicle: driver, ignition, counters, and how long it has stood still. */
import type { Scalar } from '../platform/shape.js'
import type { WireDevice, WireDeviceState } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { sensorType, sensorValue } from './sensor.js'
import { asIfUtc, durationSeconds, secondsPer, unixSeconds } from './time.js'
import { id, number, quantity, rounded, text, toKm, word } from './units.js'

/** The id of the device's current driver. */
export const driverIdOf = ({ driver_data, device_data }: WireDeviceState): number | undefined =>
  id(driver_data.id) ?? id(device_data.current_driver_id)

const ignitionTypes = new Set(['acc', 'ignition', 'engine'])

/** Whether a switch is on: `true`, `1`, `"0.00"`, `On` or `engine off`; undefined for any other value. */
function switchState(value: Scalar): boolean | undefined {
  if (typeof value === 'boolean') return value
  const amount = number(value)
  if (amount === 0 || amount === 1) return amount === 1
  const [, last] = /(?:^|[\s:_])(on|true|yes|off|false|no)$/.exec(word(value) ?? '') ?? []
  return last === undefined ? undefined : ['on', 'true', 'yes'].includes(last)
}

/** Whether the ignition is on: by the first ignition sensor with a state, else by the platform's own status. */
export function ignitionOf(wire: WireDevice): boolean | null {
  for (const sensor of wire.sensors) {
    if (!ignitionTypes.has(sensorType(sensor) ?? '')) continue
    const state = switchState(sensor.val) ?? switchState(sensorValue(sensor))
    if (state !== undefined) return state
  }
  return switchState(wire.engine_status) ?? (word(wire.online) === 'engine' ? true : null)
}

/** The sensors of a type: the text of each, and its value with unit if it is a number. */
function countersOf(device: WireDevice, type: string) {
  return device.sensors
    .filter((sensor) => sensorType(sensor) === type)
    .map(({ formatted, value, val, unit }) => {
      const found = quantity(formatted) ?? quantity(value) ?? quantity(val)
      return { written: text(formatted) ?? text(value), amount: found?.amount, unit: found?.unit || text(unit) }
    })
}

/** The account's unit of distance. Platform 2.x sends only that of speed. */
export const distanceUnit = (device: WireDevice): string | undefined =>
  text(device.unit_of_distance) ?? text(device.distance_unit_hour)

/** The odometer in km: the first sensor with a number, in its own unit, else the device's counter in the account's unit. */
export function odometerKm(device: WireDevice): number | undefined {
  const sensor = countersOf(device, 'odometer').find(({ amount }) => amount !== undefined)
  return toKm(sensor?.amount ?? device.total_distance, sensor?.unit ?? distanceUnit(device))
}

/** Engine hours of the first sensor that states its unit; a number without a unit may be hours or seconds (platform.md 8.3). */
export function engineHours(device: WireDevice): number | undefined {
  for (const { written, amount, unit } of countersOf(device, 'engine_hours')) {
    const hours = hoursOf(written, amount, unit)
    if (hours !== undefined) return hours
  }
  return undefined
}

/** Hours of an amount in a unit of time, else of a duration as text; undefined for any other. */
export function hoursOf(written: Scalar, amount: number | undefined, unit = ''): number | undefined {
  const factor = secondsPer(unit)
  const seconds = amount === undefined || factor === undefined ? durationSeconds(written) : amount * factor
  return seconds === undefined ? undefined : rounded(seconds / 3600, 2)
}

/** Unix seconds of a time of the tracker server, which is in UTC; 0 if there is none. */
export function serverTime(value: Scalar): number {
  const time = displayTime(value)
  return time === undefined ? 0 : unixSeconds(asIfUtc(time))
}

/** Unix seconds of the last movement; null if unknown. */
export const movedAt = (wire: WireDevice): number | null =>
  unixSeconds(number(wire.moved_timestamp)) || serverTime(wire.device_data.traccar.moved_at) || null

/** Whole seconds of the first value that is a number or a duration text (platform.md N25); null if none is one, or it is negative. */
export function seconds(...written: Scalar[]): number | null {
  const value = written.map((one) => number(one) ?? durationSeconds(one)).find((count) => count !== undefined)
  return value === undefined || value < 0 ? null : Math.floor(value)
}
