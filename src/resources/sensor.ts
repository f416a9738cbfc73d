/** A device's sensor: its schema and its translation from the platform's row. */
import type { Static } from 'typebox'
import type { WireDevice } from '../platform/wire.js'
import { field, Part } from './schema.js'
import { id, quantity, text, word } from './units.js'

export const Sensor = Part('Sensor', {
  id: field.idOrNull('Unique sensor identifier; null if the platform sends none', 71),
  type: field.text("The platform's word in lower case; `other` if it sends none", 'battery'),
  name: field.text('Name given to the sensor', 'Battery'),
  value: field.textOrNull('Value with its unit; null if the sensor has none', '12.6 V'),
  number: field.numberOrNull('The value as a number in the unit shown; null if it is not a number', 12.6),
})
export type Sensor = Static<typeof Sensor>

type WireSensor = WireDevice['sensors'][number]

/** The text; undefined for a dash, with or without a unit (`- nn`). */
const withValue = (value: string | undefined): string | undefined => (/^-+(\s|$)/.test(value ?? '') ? undefined : value)

function withUnit(value: WireSensor['value'], unit: string | undefined): string | undefined {
  if (typeof value === 'boolean') return value ? 'On' : 'Off'
  const written = withValue(text(value))
  return typeof value === 'number' && unit !== undefined ? `${written} ${unit}` : written
}

export const sensorType = (wire: WireSensor): string | undefined => word(wire.type)

/** The value with its unit (platform.md 3.6); undefined if the sensor has none. */
export function sensorValue(wire: WireSensor): string | undefined {
  const unit = text(wire.unit)
  return withValue(text(wire.formatted)) ?? withUnit(wire.value, unit) ?? withUnit(wire.val, unit)
}

/** The number of `12.6 V` or `3 m3`; null for a date, a duration and a word. */
function numberOf(value: string | undefined): number | null {
  const found = quantity(value)
  return found === undefined || /\d/.test(found.unit.replace(/m[23]$/, '')) ? null : found.amount
}

/** The sensor of a row (platform.md 3.6); undefined for an empty row. */
export function toSensor(wire: WireSensor): Sensor | undefined {
  const type = sensorType(wire)
  const name = text(wire.name)
  const value = sensorValue(wire)
  if (type === undefined && name === undefined && value === undefined) return undefined
  return {
    id: id(wire.id) ?? null,
    type: type ?? 'other',
    name: name ?? type ?? 'other',
    value: value ?? null,
    number: numberOf(value),
  }
}
