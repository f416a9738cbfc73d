/** The event resource, something that happened to a device: its schema and its translation from the platform's row. */
import { type Static, Type } from 'typebox'
import type { WireEvent, WireSetup } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { eventKinds, kindOf } from './event-kind.js'
import { Ids, Paging } from './list.js'
import { field, LatLngOrNull, Nullable, Part, PlatformTime, Resource, Word } from './schema.js'
import { asIfUtc } from './time.js'
import { coordinates, id, text, toKmh, word } from './units.js'

/** The kinds with their meaning and all words of the filter `type`, as a table in Markdown. */
const kindTable = [
  "| `kind` | Meaning | The platform's `type` | Also in the filter |",
  '|---|---|---|---|',
  ...eventKinds.map(({ kind, meaning, words, aliases }) => {
    const coded = (list: readonly string[]) => list.map((word) => `\`${word}\``).join(', ')
    return `| \`${kind}\` | ${meaning} | ${coded(words)} | ${coded(aliases)} |`
  }),
].join('\n')

const EventGeofence = Part('EventGeofence', {
  id: field.idOrNull('Geofence id; null if unknown', 27),
  name: field.textOrNull('Name of the geofence; null if unknown', 'Harbour'),
})

export const Event = Resource('Event', 'Something that happened to a device', {
  id: field.id('Unique event identifier', 5021),
  type: field.text("The platform's word for the kind of event, in lower case, such as `overspeed`", 'zone_in'),
  kind: Word(
    eventKinds.map(({ kind }) => kind),
    { description: `What happened, independent of the platform's words\n\n${kindTable}`, example: 'geofence.enter' },
  ),
  message: field.text('Human-readable text', 'Zone in (Harbour)'),
  device_id: field.idOrNull('The device it happened to; null if unknown', 318),
  device: field.text('Name of that device; empty if unknown', 'Van 4'),
  ...LatLngOrNull(48.22917, 16.41862),
  speed: field.numberOrNull('Speed in km/h; null if unknown', 12, { minimum: 0 }),
  address: field.textOrNull('Approximate address; null if the platform has none'),
  alert_id: field.idOrNull('The alert that generated it; null if unknown', 14),
  geofence: Type.Union([EventGeofence, Type.Null()], { description: 'The geofence it is about; null if none' }),
  timestamp: Nullable(PlatformTime('When it happened (null if unknown)', '2026-05-11 13:47:02')),
})
export type Event = Static<typeof Event>

const Moment = (description: string, dayMeans: string, example: string) =>
  Type.Optional(
    Type.String({
      description: `${description}, inclusive, in ISO 8601. Without a UTC offset it is on the account's clock; a date alone means its ${dayMeans}.`,
      examples: [example],
    }),
  )

export const EventsQuery = Type.Object({
  device_id: Type.Optional(field.id('Only events of this device. Not together with `device_ids`')),
  device_ids: Type.Optional(Ids(10, 'Only events of these devices')),
  after_id: Type.Optional(
    field.count(
      'Only events with a greater id, in ascending order of id: send the last one next. Begin with the id of the newest event.',
    ),
  ),
  type: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "Only events of this type: the platform's word, a `kind`, or another word from the table of kinds",
    }),
  ),
  from: Moment('Earliest time', 'first second', '2026-05-11T00:00:00Z'),
  to: Moment('Latest time', 'last second', '2026-05-11'),
  ...Paging({ omitted: 50, max: 200 }),
})
export type EventsQuery = Static<typeof EventsQuery>

/** Types by message, for platform 2.x, which sends no type. */
const typesByMessage: readonly [RegExp, string][] = [
  [/^\s*overspeed/i, 'overspeed'],
  [/zone in/i, 'zone_in'],
  [/zone out/i, 'zone_out'],
]

/** The message, the platform's word and our kind of an event. */
export function describe(wire: WireEvent): Pick<Event, 'message' | 'type' | 'kind'> {
  const [name, detail] = [text(wire.name), text(wire.detail)]
  const message = text(wire.message) ?? (name && detail ? `${name} (${detail})` : (name ?? detail ?? ''))
  const type = word(wire.type) ?? typesByMessage.find(([pattern]) => pattern.test(message))?.[1] ?? 'custom'
  return { message, type, kind: kindOf(type, message) }
}

/** The id of the event's device; undefined if the row does not say. */
export const eventDevice = ({ device_id, device }: WireEvent): number | undefined => id(device_id) ?? id(device.id)

/** The geofence, of which some platforms send only the id or only the name. */
function geofenceOf({ geofence, geofence_id, geofence_name }: WireEvent): Event['geofence'] {
  const found = {
    id: id(geofence.id) ?? id(geofence_id) ?? null,
    name: text(geofence.name) ?? text(geofence_name) ?? null,
  }
  return found.id === null && found.name === null ? null : found
}

/**
 * The event of a platform row (spec.md, Event; platform.md 11.4); undefined without a valid id.
 * @param deviceName returns a device's name by its id, for rows without a name; undefined for an unknown device.
 * @param setup has the account's unit of distance, from which that of the speed follows; undefined if unknown.
 */
export function toEvent(
  wire: WireEvent,
  deviceName: (id: number) => string | undefined,
  setup: WireSetup | undefined,
): Event | undefined {
  const eventId = id(wire.id)
  if (eventId === undefined) return undefined
  const device = eventDevice(wire)
  const position = coordinates(wire.latitude, wire.longitude) ?? coordinates(wire.lat, wire.lng)
  const created = displayTime(wire.created_at)
  return {
    id: eventId,
    ...describe(wire),
    device_id: device ?? null,
    device:
      text(wire.device_name) ?? text(wire.device.name) ?? (device === undefined ? '' : (deviceName(device) ?? '')),
    lat: position?.lat ?? null,
    lng: position?.lng ?? null,
    speed: (setup && toKmh(wire.speed, setup.item.unit_of_distance)) ?? null,
    address: text(wire.address) ?? null,
    alert_id: id(wire.alert_id) ?? null,
    geofence: geofenceOf(wire),
    timestamp: displayTime(wire.time, created === undefined ? [] : [asIfUtc(created)]) ?? created ?? null,
  }
}

/** What the order of events is made of. */
export type SortKey = Pick<Event, 'id' | 'timestamp'>

/** Sort order: newest first, within a second the higher id first, events without a time last. */
export const newestFirst = (a: SortKey, b: SortKey): number =>
  a.timestamp === b.timestamp ? b.id - a.id : (a.timestamp ?? '') < (b.timestamp ?? '') ? 1 : -1
