/** Something that happened, as we document it, and how it comes from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireEvent } from '../platform/wire.js'
import { Paging } from './list.js'
import { Id, Latitude, Longitude, Nullable, WallClock } from './schema.js'
import { asIfUtc, displayTime } from './time.js'
import { coordinates, id, text } from './units.js'

export const Event = Type.Object(
  {
    id: Id('Unique event identifier'),
    type: Type.String({ description: "The platform's word for what happened, in lower case, such as `overspeed`" }),
    message: Type.String({ description: 'Text for people' }),
    device_id: Nullable(Type.Integer({ minimum: 1, description: 'The device it happened to; null if unknown' })),
    device: Type.String({ description: 'Name of that device; empty if unknown' }),
    lat: Nullable(Type.Number({ ...Latitude, description: 'Latitude in decimal degrees; null without a position' })),
    lng: Nullable(Type.Number({ ...Longitude, description: 'Longitude in decimal degrees; null without a position' })),
    timestamp: Nullable(WallClock('When it happened; null if unknown')),
  },
  {
    additionalProperties: false,
    title: 'Event',
    description: 'Something that happened to a device',
    examples: [
      {
        id: 5021,
        type: 'zone_in',
        message: 'Zone in (Harbour)',
        device_id: 318,
        device: 'Van 4',
        lat: 48.22917,
        lng: 16.41862,
        timestamp: '2026-05-11 13:47:02',
      },
    ],
  },
)
export type Event = Static<typeof Event>

const moment = "ISO 8601, inclusive; without an offset it is the account's clock, a date alone is its"

export const EventsQuery = Type.Object({
  device_id: Type.Optional(Id('Only events of this device')),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "Only events of this type, the platform's word" }),
  ),
  from: Type.Optional(
    Type.String({
      minLength: 10,
      maxLength: 40,
      description: `Earliest moment: ${moment} start`,
      examples: ['2026-05-11T00:00:00Z'],
    }),
  ),
  to: Type.Optional(
    Type.String({
      minLength: 10,
      maxLength: 40,
      description: `Latest moment: ${moment} end`,
      examples: ['2026-05-11'],
    }),
  ),
  ...Paging({ default: 50, max: 200 }),
})
export type EventsQuery = Static<typeof EventsQuery>

/** The 2.x platform sends no type; its texts begin with these. */
const MESSAGES: readonly [RegExp, string][] = [
  [/^\s*overspeed/i, 'overspeed'],
  [/zone in/i, 'zone_in'],
  [/zone out/i, 'zone_out'],
]

const typeOf = (wire: WireEvent, message: string): string =>
  text(wire.type)?.toLowerCase() ?? MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? 'custom'

function messageOf(wire: WireEvent): string {
  const name = text(wire.name)
  const detail = text(wire.detail)
  const both = name !== undefined && detail !== undefined ? `${name} (${detail})` : (name ?? detail)
  return text(wire.message) ?? both ?? ''
}

/**
 * The event of a row, or undefined without a usable id (platform.md 11.4).
 * @param deviceName a device's name by its id, for rows that come without; undefined where no such device is known.
 */
export function toEvent(wire: WireEvent, deviceName: (id: number) => string | undefined): Event | undefined {
  const own = id(wire.id)
  if (own === undefined) return undefined
  const message = messageOf(wire)
  const device = id(wire.device_id) ?? id(wire.device.id)
  const position = coordinates(wire.latitude, wire.longitude) ?? coordinates(wire.lat, wire.lng)
  const created = displayTime(wire.created_at)
  return {
    id: own,
    type: typeOf(wire, message),
    message,
    device_id: device ?? null,
    device:
      text(wire.device_name) ?? text(wire.device.name) ?? (device === undefined ? '' : (deviceName(device) ?? '')),
    lat: position?.lat ?? null,
    lng: position?.lng ?? null,
    timestamp: displayTime(wire.time, created === undefined ? [] : [asIfUtc(created)]) ?? created ?? null,
  }
}

/** Newest first; events of the same second by id, the higher first. Those without a time come last. */
export const newestFirst = (a: Event, b: Event): number =>
  a.timestamp === b.timestamp ? b.id - a.id : (a.timestamp ?? '') < (b.timestamp ?? '') ? 1 : -1
