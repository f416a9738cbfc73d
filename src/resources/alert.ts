/** The alert resource, a configured rule: its schema and its translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireAlert } from '../platform/wire.js'
import { field, ObjectName, Part, Resource, withExample } from './schema.js'
import { flag, id, number, text, word } from './units.js'

const AlertDevice = Part('AlertDevice', {
  id: field.id('Device identifier', 318),
  name: field.text('Device name; empty if unknown', 'Van 4'),
})

export const Alert = Resource('Alert', 'A configured rule that generates events', {
  object: ObjectName('alert'),
  id: field.id('Unique alert identifier', 61),
  name: field.text('Name given to the alert', 'Harbour watch'),
  type: field.text(
    "`overspeed`, `geofence_in`, `geofence_out`, `ignition_on`, `ignition_off`, `sos`, `device_offline`, or the platform's own word for any other rule",
    'geofence_in',
  ),
  types: withExample(
    Type.Array(Type.String(), {
      minItems: 1,
      description: 'All types that the rule covers; more than one for a geofence or ignition rule in both directions',
    }),
    ['geofence_in', 'geofence_out'],
  ),
  active: field.flag('Whether the rule is enabled', true),
  all_devices: field.flag('Whether the rule covers all devices of the account, later ones too', false),
  devices: Type.Array(AlertDevice, { description: 'The devices the rule is assigned to' }),
})
export type Alert = Static<typeof Alert>

interface AlertFleet {
  ids: readonly number[]
  /** A device's name; undefined for an unknown device. */
  name: (id: number) => string | undefined
}

type Types = [string, ...string[]]

const documented = new Map<string, Types>([
  ['geofence_inout', ['geofence_in', 'geofence_out']],
  ['offline_duration', ['device_offline']],
])

/** Types of an ignition rule by its `state`: 1 is on, 2 is off, any other value both (platform.md 7.1). */
function ignition(state: number | undefined): Types {
  if (state === 1) return ['ignition_on']
  return state === 2 ? ['ignition_off'] : ['ignition_on', 'ignition_off']
}

/** Platform 2.x sends no type: a rule there may have a speed limit, and geofences with `zone` 1 for entering and 2 for leaving. */
function recognized({ overspeed_speed, geofences }: WireAlert): Types {
  const zones = new Set(geofences.map(({ zone }) => number(zone)))
  const [first = 'custom', ...others] = [
    (number(overspeed_speed) ?? 0) > 0 && 'overspeed',
    zones.has(1) && 'geofence_in',
    zones.has(2) && 'geofence_out',
  ].filter((type) => type !== false)
  return [first, ...others]
}

function typesOf(wire: WireAlert): Types {
  const type = word(wire.type)
  if (type === undefined) return recognized(wire)
  if (type === 'ignition') return ignition(number(wire.state))
  return documented.get(type) ?? [type]
}

/** Whether the rule covers all devices of the account, whatever devices it lists. */
export const coversAll = (wire: WireAlert): boolean => flag(wire.for_all_user_devices) === true

/** The alert of a platform row (spec.md, Alert; platform.md 11.6). @param fleet all devices of the account. */
export function toAlert(wire: WireAlert, alertId: number, fleet: AlertFleet): Alert {
  const types = typesOf(wire)
  const all_devices = coversAll(wire)
  const devices = all_devices ? fleet.ids : new Set(wire.devices.map(id).filter((device) => device !== undefined))
  return {
    object: 'alert',
    id: alertId,
    name: text(wire.name) ?? types[0],
    type: types[0],
    types,
    active: flag(wire.active) ?? true,
    all_devices,
    devices: [...devices].map((device) => ({ id: device, name: fleet.name(device) ?? '' })),
  }
}
