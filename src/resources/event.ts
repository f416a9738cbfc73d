/** The event resource, something that happened to a device: its schema and its translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireEvent } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { Paging } from './list.js'
import { Id, Nullable, OptionalPosition, Resource, WallClock } from './schema.js'
import { asIfUtc } from './time.js'
import { coordinates, id, text } from './units.js'

export const Event = Resource(
  'Event',
  'Something that happened to a device',
  {
    id: Id('Unique event identifier'),
    type: Type.String({ description: "The platform's word for the kind of event, in lower case, such as `overspeed`" }),
    message: Type.String({ description: 'Human-readable text' }),
    device_id: Nullable(Type.Integer({ minimum: 1, description: 'The device it happened to; null if unknown' })),
    device: Type.String({ description: 'Name of that device; empty if unknown' }),
    ...OptionalPosition,
    timestamp: Nullable(WallClock('When it happened; null if unknown')),
  },
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
)
export type Event = Static<typeof Event>

const Moment = (description: string, dayMeans: string, example: string) =>
  Type.Optional(
    Type.String({
      description: `${description}, inclusive, in ISO 8601. Without a UTC offset it is on the account's clock; a date alone means its ${dayMeans}.`,
      examples: [example],
    }),
  )

export const EventsQuery = Type.Object({
  device_id: Type.Optional(Id('Only events of this device')),
  type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: "Only events of this type, the platform's word" }),
  ),
  from: Moment('Earliest time', 'first second', '2026-05-11T00:00:00Z'),
  to: Moment('Latest time', 'last second', '2026-05-11'),
  ...Paging({ default: 50, max: 200 }),
})
export type EventsQuery = Static<typeof EventsQuery>

/** Types by message, for platform 2.x, which sends no type. */
const TYPES_BY_MESSAGE: readonly [RegExp, string][] = [
  [/^\s*overspeed/i, 'overspeed'],
  [/zone in/i, 'zone_in'],
  [/zone out/i, 'zone_out'],
]

const typeOf = (wire: WireEvent, message: string): string =>
  text(wire.type)?.toLowerCase() ?? TYPES_BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] ?? 'custom'

function messageOf(wire: WireEvent): string {
  const name = text(wire.name)
  const detail = text(wire.detail)
  const both = name !== undefined && detail !== undefined ? `${name} (${detail})` : (name ?? detail)
  return text(wire.message) ?? both ?? ''
}

/**
 * The event of a platform row (spec.md, Event; platform.md 11.4); undefined without a valid id.
 * @param deviceName returns a device's name by its id, for rows without a name; undefined for an unknown device.
 */
export function toEvent(wire: WireEvent, deviceName: (id: number) => string | undefined): Event | undefined {
  const eventId = id(wire.id)
  if (eventId === undefined) return undefined
  const message = messageOf(wire)
  const device = id(wire.device_id) ?? id(wire.device.id)
  const position = coordinates(wire.latitude, wire.longitude) ?? coordinates(wire.lat, wire.lng)
  const created = displayTime(wire.created_at)
  return {
    id: eventId,
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

/** Sort order: newest first, within a second the higher id first, events without a time last. */
export const newestFirst = (a: Event, b: Event): number =>
  a.timestamp === b.timestamp ? b.id - a.id : (a.timestamp ?? '') < (b.timestamp ?? '') ? 1 : -1
