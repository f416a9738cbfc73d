/** A maintenance service as we document it, and how it comes from the platform's row and its device's counters. */
import { type Static, Type } from 'typebox'
import type { WireDevice, WireService } from '../platform/wire.js'
import { deviceName } from './device.js'
import { Paging } from './list.js'
import { Id, Nullable } from './schema.js'
import { dayText, displayTime, epochDay } from './time.js'
import { flag, id, number, quantity, rounded, text, toKm } from './units.js'

const amount = (description: string) => Nullable(Type.Number({ description: `${description}; null if unknown` }))
const date = (description: string) =>
  Nullable(
    Type.String({
      pattern: '^\\d{4}-\\d{2}-\\d{2}$',
      description: `${description}, \`YYYY-MM-DD\`; null for other units`,
    }),
  )

export const MaintenanceService = Type.Object(
  {
    id: Id('Unique service identifier'),
    name: Type.String({ description: 'Name given to the service' }),
    device_id: Nullable(Type.Integer({ minimum: 1, description: 'The device it is for; null if unknown' })),
    device: Type.String({ description: 'Name of that device; empty if unknown' }),
    expiration_by: Type.String({
      description: 'What it is counted in: `odometer` (km), `engine_hours` (hours) or `days` (days since 1970-01-01)',
    }),
    interval: amount('Maintenance interval in that unit'),
    last_service: amount('Value at the last service in that unit'),
    expires_at: amount('Value at which the next is due, in that unit'),
    remaining: amount('What is left until then, in that unit; negative when overdue'),
    expired: Type.Boolean({ description: 'Whether it is overdue' }),
    last_service_date: date('For `days`: the day of the last service'),
    expires_date: date('For `days`: the day on which the next is due'),
  },
  {
    additionalProperties: false,
    title: 'MaintenanceService',
    description: 'A maintenance service that falls due by distance, engine hours or days',
    examples: [
      {
        id: 7,
        name: 'Tyres',
        device_id: 318,
        device: 'Van 4',
        expiration_by: 'odometer',
        interval: 30000,
        last_service: 52000,
        expires_at: 82000,
        remaining: 1450.5,
        expired: false,
        last_service_date: null,
        expires_date: null,
      },
    ],
  },
)
export type MaintenanceService = Static<typeof MaintenanceService>

export const ServicesQuery = Type.Object({
  device_id: Type.Optional(Id('Only services of this device')),
  ...Paging({ max: 500 }),
})
export type ServicesQuery = Static<typeof ServicesQuery>

type Known = number | undefined

/** The amounts of one service in the units of its `expiration_by`. */
type Amounts = { interval: Known; last: Known; due: Known; remaining: Known }

/** A day as days since 1970-01-01, from a date in any display format or from such a number. */
function dayOf(value: WireService['last_service'], near: number): Known {
  const shown = displayTime(value, [near * 86_400])
  if (shown !== undefined) return epochDay(shown)
  const days = number(value)
  return days !== undefined && days > 0 && dayText(days) !== undefined ? Math.floor(days) : undefined
}

/** What a text says is left: `Odometer Left (812 km)`, `6d.` (platform.md 8.3). */
function leftIn(value: string | undefined): { amount: number; unit: string } | undefined {
  const inBrackets = /\(\s*(-?[\d.,][^()]*)\)/.exec(value ?? '')?.[1]
  return quantity(inBrackets ?? /^-?\d+\s*d\b/.exec(value ?? '')?.[0])
}

/** What is left by the device's own text for the service, else by the row's. */
function leftInText(wire: WireService, device: WireDevice | undefined): { amount: number; unit: string } | undefined {
  const [own, name] = [text(wire.id), text(wire.name)]
  const row = device?.services.find((service) => {
    const id = text(service.id)
    return id === undefined ? name !== undefined && text(service.name) === name : id === own
  })
  return leftIn(text(row?.value)) ?? leftIn(text(wire.expires))
}

const sensorOf = (device: WireDevice | undefined, type: string): WireDevice['sensors'][number] | undefined =>
  device?.sensors.find((sensor) => text(sensor.type)?.toLowerCase() === type)

/** The account's distance unit as its device shows it; the 2.x platform shows only that of speeds. */
const distanceUnit = (device: WireDevice | undefined): string | undefined =>
  text(device?.unit_of_distance) ?? (text(device?.distance_unit_hour)?.toLowerCase() === 'mph' ? 'mi' : undefined)

/** The odometer in km: the sensor's text with its own unit, else its number or the device's counter in the account's unit. */
function odometerKm(device: WireDevice | undefined): Known {
  const unit = distanceUnit(device)
  const sensor = sensorOf(device, 'odometer')
  const read = quantity(sensor?.formatted) ?? quantity(sensor?.value)
  if (read) return toKm(read.amount, read.unit || text(sensor?.unit) || unit)
  const counted = number(sensor?.val) ?? number(device?.total_distance)
  return counted === undefined ? undefined : toKm(counted, unit)
}

/** Engine hours only from a text that says hours: a bare number may be seconds (platform.md 8.3). */
function engineHours(device: WireDevice | undefined): Known {
  const sensor = sensorOf(device, 'engine_hours')
  const read = quantity(sensor?.formatted) ?? quantity(sensor?.value)
  const unit = read?.unit || (text(sensor?.unit) ?? '')
  return /^h/i.test(unit) ? read?.amount : undefined
}

const plus = (a: Known, b: Known): Known => (a === undefined || b === undefined ? undefined : rounded(a + b, 6))
const minus = (a: Known, b: Known): Known => (a === undefined || b === undefined ? undefined : rounded(a - b, 2))

function byDays(wire: WireService, left: Known, today: number): Amounts {
  const interval = number(wire.interval)
  const last = dayOf(wire.last_service, today)
  const due = plus(last, interval) ?? dayOf(wire.expires_date, today)
  return { interval, last, due, remaining: minus(due, today) ?? left }
}

function byOdometer(wire: WireService, device: WireDevice | undefined): Amounts {
  const unit = distanceUnit(device)
  const km = (value: Known): Known => (value === undefined ? undefined : toKm(value, unit))
  const interval = number(wire.interval)
  const last = number(wire.last_service)
  const due = km(plus(last, interval) ?? number(wire.expires))
  const left = leftInText(wire, device)
  const remaining = minus(due, odometerKm(device)) ?? (left && toKm(left.amount, left.unit || unit))
  return { interval: km(interval), last: km(last), due, remaining }
}

function byCounter(wire: WireService, current: Known, left: Known): Amounts {
  const interval = number(wire.interval)
  const last = number(wire.last_service)
  const due = plus(last, interval) ?? number(wire.expires)
  return { interval, last, due, remaining: minus(due, current) ?? left }
}

function amountsOf(wire: WireService, by: string, device: WireDevice | undefined, today: number): Amounts {
  const left = leftInText(wire, device)?.amount
  if (by === 'days') return byDays(wire, left, today)
  if (by === 'odometer') return byOdometer(wire, device)
  return byCounter(wire, by === 'engine_hours' ? engineHours(device) : undefined, left)
}

const dateText = (day: Known): string | null => (day === undefined ? null : (dayText(day) ?? null))

/**
 * The maintenance service of a row, or undefined without a usable id (platform.md 8.3).
 * @param device the service's device, where known: its counters, units and name.
 * @param today the day on the account's clock, in days since 1970-01-01.
 */
export function toMaintenanceService(
  wire: WireService,
  device: WireDevice | undefined,
  today: number,
): MaintenanceService | undefined {
  const own = id(wire.id)
  if (own === undefined) return undefined
  const by = text(wire.expiration_by)?.toLowerCase() ?? 'odometer'
  const { interval, last, due, remaining } = amountsOf(wire, by, device, today)
  return {
    id: own,
    name: text(wire.name) ?? `Service ${own}`,
    device_id: id(wire.device_id) ?? id(device?.id) ?? null,
    device: device ? deviceName(device) : '',
    expiration_by: by,
    interval: interval ?? null,
    last_service: last ?? null,
    expires_at: due ?? null,
    remaining: remaining ?? null,
    expired: flag(wire.expired) === true || (remaining !== undefined && remaining < 0),
    last_service_date: by === 'days' ? dateText(last) : null,
    expires_date: by === 'days' ? dateText(due) : null,
  }
}
