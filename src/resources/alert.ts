/** A configured rule of the platform as we document it, and how it comes from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireAlert } from '../platform/wire.js'
import { Id } from './schema.js'
import { flag, id, number, text } from './units.js'

const type = Type.String({
  description:
    "`overspeed`, `geofence_in`, `geofence_out`, `ignition_on`, `ignition_off`, `sos`, `device_offline`, or the platform's own word for any other rule",
})

export const Alert = Type.Object(
  {
    object: Type.Literal('alert', { type: 'string', description: 'Always `alert`' }),
    id: Id('Unique alert identifier'),
    name: Type.String({ description: 'Name given to the alert' }),
    type,
    types: Type.Array(Type.String(), {
      minItems: 1,
      description: 'Every kind the rule watches for; more than one for a geofence or ignition rule in both directions',
    }),
    active: Type.Boolean({ description: 'Whether the rule is switched on' }),
    devices: Type.Array(
      Type.Object(
        { id: Id('Device identifier'), name: Type.String({ description: 'Device name; empty if unknown' }) },
        { additionalProperties: false, title: 'AlertDevice' },
      ),
      { description: 'The devices it is assigned to' },
    ),
  },
  {
    additionalProperties: false,
    title: 'Alert',
    description: 'A configured rule that makes events',
    examples: [
      {
        object: 'alert',
        id: 61,
        name: 'Harbour watch',
        type: 'geofence_in',
        types: ['geofence_in', 'geofence_out'],
        active: true,
        devices: [{ id: 318, name: 'Van 4' }],
      },
    ],
  },
)
export type Alert = Static<typeof Alert>

type Types = [string, ...string[]]

const DOCUMENTED: Record<string, Types> = {
  geofence_inout: ['geofence_in', 'geofence_out'],
  offline_duration: ['device_offline'],
}

/** `state` of an ignition rule: 1 is on, 2 is off, anything else both (platform.md 7.1). */
function ignition(state: number | undefined): Types {
  if (state === 1) return ['ignition_on']
  return state === 2 ? ['ignition_off'] : ['ignition_on', 'ignition_off']
}

/** The 2.x platform sends no type; a speed is the only rule that can be told apart there. */
function typesOf(wire: WireAlert): Types {
  const word = text(wire.type)?.toLowerCase()
  if (word === undefined) return [(number(wire.overspeed_speed) ?? 0) > 0 ? 'overspeed' : 'custom']
  if (word === 'ignition') return ignition(number(wire.state))
  return (Object.hasOwn(DOCUMENTED, word) ? DOCUMENTED[word] : undefined) ?? [word]
}

/**
 * The alert of a row, or undefined without a usable id (platform.md 7).
 * @param deviceName a device's name by its id; undefined where no such device is known.
 */
export function toAlert(wire: WireAlert, deviceName: (id: number) => string | undefined): Alert | undefined {
  const own = id(wire.id)
  if (own === undefined) return undefined
  const types = typesOf(wire)
  const devices = new Set(wire.devices.map(id).filter((device) => device !== undefined))
  return {
    object: 'alert',
    id: own,
    name: text(wire.name) ?? types[0],
    type: types[0],
    types,
    active: flag(wire.active) ?? true,
    devices: [...devices].map((device) => ({ id: device, name: deviceName(device) ?? '' })),
  }
}
