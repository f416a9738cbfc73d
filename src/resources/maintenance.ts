/** The maintenance service resource: its schema and its translation from the platform's row and the device's counters. */
import { type Static, Type } from 'typebox'
import type { Scalar } from '../platform/shape.js'
import type { WireDevice, WireService, WireSetup } from '../platform/wire.js'
import { deviceName, writesDayFirst } from './device.js'
import { distanceUnit, engineHours, hoursOf, odometerKm } from './device-state.js'
import { displayTime, isDayFirst } from './display-time.js'
import { Paging } from './list.js'
import { field, Resource } from './schema.js'
import { asIfUtc, dayText, epochDay, lastSecond } from './time.js'
import { flag, id, number, quantity, rounded, text, toKm, word } from './units.js'
import { today as dayAt, wallClock, type Zone } from './zone.js'

const Amount = (description: string, example: number) => field.numberOrNull(`${description}; null if unknown`, example)
const DateOrNull = (description: string) =>
  field.textOrNull(`${description}, \`YYYY-MM-DD\`; null if unknown, and for other units`, null, {
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
  })

export const MaintenanceService = Resource(
  'MaintenanceService',
  'A maintenance service, due by distance, engine hours or days',
  {
    id: field.id('Unique service identifier', 7),
    name: field.text('Name given to the service', 'Tyres'),
    device_id: field.idOrNull('The device of the service; null if unknown', 318),
    device: field.text('Name of that device; empty if unknown', 'Van 4'),
    expiration_by: field.text(
      'Unit of the numbers: `odometer` (km), `engine_hours` (hours) or `days` (days since 1970-01-01), or another word of the platform',
      'odometer',
    ),
    interval: Amount('Maintenance interval in that unit', 30000),
    last_service: Amount('Value at the last service in that unit', 52000),
    expires_at: Amount('Value at which the next service is due, in that unit', 82000),
    remaining: Amount('Amount left until then in that unit; negative when overdue', 1450.5),
    expired: field.flag('Whether the service is overdue', false),
    last_service_date: DateOrNull('For `days`: day of the last service'),
    expires_date: DateOrNull('For `days`: day on which the next service is due'),
  },
)
export type MaintenanceService = Static<typeof MaintenanceService>

export const ServicesQuery = Type.Object({
  device_id: Type.Optional(field.id('Only services of this device')),
  ...Paging({ max: 500 }),
})

type Maybe = number | undefined

/** `odometer`, `engine_hours`, `days` or another word of the platform. */
export const unitOf = (wire: WireService): string => word(wire.expiration_by) ?? 'odometer'

/** How to read the dates of an account. */
interface Calendar {
  zone: Zone
  /** The account's order of day and month, for a device that does not show it; undefined = both are possible. */
  dayFirst: boolean | undefined
}

/** The day of a date. Some platforms write the account's midnight in UTC; any other time is on the account's clock. */
function dayOf(date: string, zone: Zone): number {
  const ms = asIfUtc(date) * 1000
  return wallClock(ms, zone)?.endsWith(' 00:00:00') ? dayAt(ms, zone) : epochDay(date)
}

/** Days since 1970-01-01 of a date in any display format, or of such a number. */
function daysOf(value: WireService['last_service'], { zone, dayFirst }: Calendar): number[] {
  const dates = [0, lastSecond].flatMap((second) => displayTime(value, [second]) ?? [])
  const inOrder = dates.filter((date) => isDayFirst(value, date) === dayFirst)
  if (dates.length > 0) return (inOrder.length > 0 ? inOrder : dates).map((date) => dayOf(date, zone))
  const days = number(value)
  return days !== undefined && days > 0 && dayText(days) !== undefined ? [Math.floor(days)] : []
}

const nearest = (days: readonly number[], day: number): Maybe =>
  days.toSorted((a, b) => Math.abs(a - day) - Math.abs(b - day))[0]

/** The day of the last service: if possible not in the future, and fitting the next due day. `expected` is that due day, from a text. */
function lastDay(wire: WireService, interval: Maybe, today: number, expected: Maybe, calendar: Calendar): Maybe {
  const days = daysOf(wire.last_service, calendar)
  const past = days.filter((day) => day <= today)
  const due = daysOf(wire.expires_date, calendar)
  const fitting = past.filter((day) => interval !== undefined && due.includes(day + interval))
  return nearest([fitting, past, days].find(({ length }) => length > 0) ?? [], minus(expected, interval) ?? today)
}

/** The remaining amount in a text: `Odometer Left (812 km)`, `6d.` (platform.md 8.3). */
const leftIn = (value: string | undefined): string | undefined =>
  /\(\s*(-?[\d.,][^()]*)\)/.exec(value ?? '')?.[1] ?? /^-?\d+\s*d\b/.exec(value ?? '')?.[0]

/** The key of a text without the id of its service; ids have no space. */
const nameKey = (name: Scalar): string | undefined => text(name) && ` ${text(name)}`

/** What services need of their device, read once for all of them: its row may have thousands of sensors and texts. */
export function serviceDevice(row: WireDevice | undefined) {
  return (
    row && {
      id: id(row.id),
      name: deviceName(row),
      unit: distanceUnit(row),
      odometer: odometerKm(row),
      hours: engineHours(row),
      dayFirst: writesDayFirst(row),
      /** The texts of its services; of equal ones the first. */
      texts: new Map(row.services.toReversed().map(({ id, name, value }) => [text(id) ?? nameKey(name), text(value)])),
    }
  )
}
export type ServiceDevice = ReturnType<typeof serviceDevice>

/** The remaining amount in the device's text for the service, else in the text of the row. */
function leftInText({ id, name, expires }: WireService, device: ServiceDevice | undefined): string | undefined {
  const keys = [text(id), nameKey(name)].filter((key) => key !== undefined)
  return leftIn(keys.map((key) => device?.texts.get(key)).find((found) => found !== undefined)) ?? leftIn(text(expires))
}

const plus = (a: Maybe, b: Maybe): Maybe => (a === undefined || b === undefined ? undefined : rounded(a + b, 6))
const minus = (a: Maybe, b: Maybe): Maybe => (a === undefined || b === undefined ? undefined : rounded(a - b, 2))

/** What services need of their account. */
interface ServiceAccount extends Calendar {
  /** Has the unit of distance, for a device that is not known; undefined if it is unknown. */
  setup: WireSetup | undefined
  /** The day on the account's clock, in days since 1970-01-01. */
  today: number
}

/** Amounts of one service in the unit of its `expiration_by`, distances in km. */
function amountsOf(wire: WireService, device: ServiceDevice | undefined, account: ServiceAccount) {
  const { setup, today } = account
  const by = unitOf(wire)
  const isDays = by === 'days'
  const isDistance = by === 'odometer'
  const interval = number(wire.interval)
  const written = leftInText(wire, device)
  const { amount, unit } = quantity(written) ?? {}
  const expected = plus(today, amount)
  const calendar = { zone: account.zone, dayFirst: device?.dayFirst ?? account.dayFirst }
  const last = isDays ? lastDay(wire, interval, today, expected, calendar) : number(wire.last_service)
  const due =
    plus(last, interval) ??
    (isDays ? nearest(daysOf(wire.expires_date, calendar), expected ?? today) : number(wire.expires))
  const accountUnit = device ? device.unit : setup?.item.unit_of_distance
  const km = (value: Maybe, unit = ''): Maybe => {
    if (!isDistance) return value
    return unit || device || setup ? toKm(value, unit || accountUnit) : undefined
  }
  const isHours = by === 'engine_hours'
  const now = isDays ? today : isDistance ? device?.odometer : isHours ? device?.hours : undefined
  const left = isHours && unit ? hoursOf(written, amount, unit) : km(amount, unit)
  const remaining = minus(km(due), now) ?? left
  return { interval: km(interval), last: km(last), due: km(due), remaining }
}

/**
 * The maintenance service of a platform row (spec.md, Maintenance service; platform.md 8.3).
 * @param device the service's device if known, for its counters, units and name.
 */
export function toMaintenanceService(
  wire: WireService,
  serviceId: number,
  device: ServiceDevice | undefined,
  account: ServiceAccount,
): MaintenanceService {
  const by = unitOf(wire)
  const { interval, last, due, remaining } = amountsOf(wire, device, account)
  const date = (day: Maybe): string | null => (by === 'days' && day !== undefined ? (dayText(day) ?? null) : null)
  return {
    id: serviceId,
    name: text(wire.name) ?? `Service ${serviceId}`,
    device_id: id(wire.device_id) ?? device?.id ?? null,
    device: device?.name ?? '',
    expiration_by: by,
    interval: interval ?? null,
    last_service: last ?? null,
    expires_at: due ?? null,
    remaining: remaining ?? null,
    expired: flag(wire.expired) === true || (remaining !== undefined && remaining < 0),
    last_service_date: date(last),
    expires_date: date(due),
  }
}
