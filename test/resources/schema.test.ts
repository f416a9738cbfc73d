/** Schemas and translations together: every platform row becomes a documented resource or none, and is sent as documented. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import fastify from 'fastify'
import t from 'tap'
import type { TObject, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { read, type Shape } from '../../src/platform/shape.js'
import * as wire from '../../src/platform/wire.js'
import { Alert, toAlert } from '../../src/resources/alert.js'
import { Device, DevicesQuery, needsZone, toDevice } from '../../src/resources/device.js'
import { Driver, toDriver } from '../../src/resources/driver.js'
import { Event, EventsQuery, toEvent } from '../../src/resources/event.js'
import { Geofence, GeofenceDetail, toGeofence } from '../../src/resources/geofence.js'
import { History, HistoryQuery, Track, toTrack } from '../../src/resources/history.js'
import { CreatedKey, CreateKey, Key, RevokedKey } from '../../src/resources/key.js'
import { ListOf, ListQuery, page } from '../../src/resources/list.js'
import { Location, toLocation } from '../../src/resources/location.js'
import {
  MaintenanceService,
  ServicesQuery,
  serviceDevice,
  toMaintenanceService,
} from '../../src/resources/maintenance.js'
import { Me } from '../../src/resources/me.js'
import { today, toZone, wallClock } from '../../src/resources/zone.js'
import { history } from './history-rows.js'

const responses: Record<string, TObject> = {
  ...{ Alert, CreatedKey, Device, Driver, Event, Geofence, GeofenceDetail, History, Key, Location },
  ...{ MaintenanceService, Me, RevokedKey },
}
const queries: Record<string, TObject> = { DevicesQuery, EventsQuery, HistoryQuery, ListQuery, ServicesQuery }

/** Values that the platform sends, or may send, in place of any other. */
const words =
  'online ack mph mi ft days odometer engine_hours circle polygon ignition geofence_inout __proto__ constructor'
const dates = ['Expired', 'Not connected', '0000-00-00', '0000-00-00 00:00:00', '03-29 02:00', '2026-02-30']
const texts = ['', '-', '- km', '0', '1', 'NaN', 'Infinity', '1e400', '9'.repeat(400), '\u0000', '\ud800', '[{']
const amounts = ['12 mi', '6d.', 'Left (5 km)', '1h 2min', '[{"id":1,"lat":1,"lng":2}]']
const numbers = [0, -0, 1, -1, 1e300, -1e300, 1e15, 5e-324, 8.64e15, 253402300800]
const moreDates = ['31-12-9999 23:59:59', '9999-12-31 23:59:59', '04-05-2026 10:00:00']
const odd = [null, true, false, [], {}, ...words.split(' '), ...dates, ...moreDates, ...texts, ...amounts, ...numbers]
const anything = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom<unknown[]>(...odd) },
  fc.anything({ maxDepth: 2 }),
  fc.double(),
  fc.integer(),
  fc.string(),
  fc.nat(400).map(String),
)

const edges = ['month', 'position', 'weekday', 'time', 'date'].flatMap((name) => [`${name}_from`, `${name}_to`])
const ruleWords = fc.constantFrom('march', 'october', 'last', 'first', 'sunday', '02:00', '03-29', 1)
/** Settings of daylight saving time. */
const settings = fc.record({
  type: fc.constantFrom('exact', 'other', 'automatic', 'none'),
  country: fc.oneof(anything, ruleWords),
  ...Object.fromEntries(edges.map((name) => [name, fc.oneof({ weight: 4, arbitrary: ruleWords }, anything)])),
})

/** A value with the fields of a shape and anything in them. */
function fitting(shape: Shape): fc.Arbitrary<unknown> {
  if (shape === 'scalar') return anything
  const list = (item: fc.Arbitrary<unknown>) => fc.array(item, { maxLength: 4 })
  if (shape === 'scalars') return fc.oneof({ weight: 4, arbitrary: settings }, anything)
  if (shape === 'ids') return fc.oneof(list(anything), anything)
  if (Array.isArray(shape)) return fc.oneof({ weight: 4, arbitrary: list(fitting(shape[0])) }, anything)
  const fields = Object.entries(shape).map(([name, inner]): [string, fc.Arbitrary<unknown>] => [name, fitting(inner)])
  return fc.oneof({ weight: 8, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }) }, anything)
}

const place = { lat: 48.2, lng: 16.3 }
/** Half of the rows have a valid id, position and centre, so that many become a resource. */
const row = (shape: Shape) =>
  fc
    .tuple(fitting(shape), fc.integer({ min: 1, max: 9 }), fc.boolean())
    .map(([raw, id, isValid]) => (isValid ? { ...(raw as object), id, ...place, center: place } : raw))

const now = Date.parse('2026-05-11T12:03:30Z')
const name = (id: number) => (id % 2 ? `Device ${id}` : undefined)
const deviceOf = (raw: unknown) => toDevice(read(wire.wireDevice, raw), now, { offsetMinutes: -840 })

const driverOf = (raw: unknown) =>
  toDriver(read(wire.wireDriver, raw), 12, { name, withDriver: (id) => (id % 3 ? id : undefined) })
const locationOf = (raw: unknown) => {
  const device = deviceOf(raw)
  return device && toLocation(device)
}
const serviceOf = (raw: unknown) =>
  toMaintenanceService(read(wire.wireService, raw), 7, serviceDevice(read(wire.wireDevice, raw)), {
    setup: undefined,
    zone: { offsetMinutes: 0 },
    today: 20_584,
    dayFirst: undefined,
  })
const historyOf = (raw: unknown) => history(raw, {})

const { wireAlert, wireDevice, wireDriver, wireEvent, wireGeofence, wireHistory, wireService } = wire
const translations: [TSchema, Shape, (raw: unknown) => unknown][] = [
  [Alert, wireAlert, (raw) => toAlert(read(wireAlert, raw), 61, { ids: [], name })],
  [Device, wireDevice, deviceOf],
  [Driver, wireDriver, driverOf],
  [Event, wireEvent, (raw) => toEvent(read(wireEvent, raw), name, read(wire.wireSetup, raw))],
  [GeofenceDetail, wireGeofence, (raw) => toGeofence(read(wireGeofence, raw), 27)],
  [History, wireHistory, historyOf],
  [Track, wireHistory, (raw) => toTrack(historyOf(raw))],
  [Location, wireDevice, locationOf],
  [MaintenanceService, { ...wireDevice, ...wireService }, serviceOf],
]

/** Makes of a value what a caller receives of it. */
async function serializer(schema: TSchema): Promise<(value: unknown) => unknown> {
  const app = fastify()
  const made: ((value: Record<string, unknown>) => string)[] = []
  app.get('/', async (_request, reply) => void made.push(reply.compileSerializationSchema({ ...schema })))
  await app.inject('/')
  return (value) => JSON.parse(made[0]!(value as Record<string, unknown>))
}

const numRuns = 400
for (const [schema, shape, translate] of translations) {
  const { title } = schema as { title?: string }
  t.test(`whatever the platform sends, a ${title} satisfies its schema, and is sent as it is`, async (t) => {
    const [compiled, sent] = [Compile(schema), await serializer(schema)]
    let made = 0
    const property = fc.asyncProperty(row(shape), async (raw) => {
      const resource = await translate(raw)
      if (resource === undefined) return
      made++
      const json = JSON.parse(JSON.stringify(resource))
      if (compiled.Check(resource) && compiled.Check(json) && isDeepStrictEqual(sent(resource), json)) return
      throw new Error(`${JSON.stringify(resource)} ${JSON.stringify(compiled.Errors(resource))}`)
    })
    await fc.assert(property, { numRuns })
    t.ok(made > numRuns / 5, `${made} of ${numRuns}`)
  })
}

t.test('only a device that needs the zone changes with it', async () => {
  const property = fc.property(row(wireDevice), (raw) => {
    const device = read(wireDevice, raw)
    const [without, having] = [toDevice(device, now), toDevice(device, now, { offsetMinutes: 60 })]
    return without?.last_seen === having?.last_seen || needsZone(device)
  })
  fc.assert(property, { numRuns })
})

t.test('every setup has a zone, and every zone a clock', async () => {
  const property = fc.property(fitting(wire.wireSetup), (raw) => {
    const zone = toZone(read(wire.wireSetup, raw))
    const isOffset = Math.abs(zone.offsetMinutes) <= 840
    return isOffset && wallClock(now, zone) !== undefined && Number.isInteger(today(now, zone))
  })
  fc.assert(property, { numRuns })
})

t.test('every resource and field has a description, and every example is valid', async (t) => {
  for (const [noun, schema] of Object.entries({ ...responses, CreateKey })) {
    const { examples = [] } = schema as { examples?: unknown[] }
    t.match(schema, { title: noun, description: /./ })
    t.ok(examples.length > 0 && examples.every((example) => Compile(schema).Check(example)), `examples of ${noun}`)
  }
  for (const [noun, { properties }] of Object.entries({ ...responses, CreateKey, ...queries })) {
    for (const [field, schema] of Object.entries(properties))
      t.type((schema as { description?: string }).description, 'string', `${noun}.${field}`)
  }
})

/** The value with one more field in every object, except in unions, which the serializer matches exactly. */
function withSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSecrets)
  if (typeof value !== 'object' || value === null) return value
  const isUnion = (name: string): boolean => ['geometry', 'geofence', 'key'].includes(name)
  const fields = Object.entries(value).map(([name, inner]) => [name, isUnion(name) ? inner : withSecrets(inner)])
  return { ...Object.fromEntries(fields), secret: 'x' }
}

t.test('a response has every documented field, alone and in a list, and nothing else', async (t) => {
  for (const [noun, schema] of Object.entries(responses)) {
    const [example] = (schema as unknown as { examples: [object] }).examples
    const list = page([example], {})
    t.strictSame((await serializer(schema))(withSecrets(example)), example, noun)
    t.strictSame((await serializer(ListOf(schema)))(withSecrets(list)), list, `list of ${noun}`)
  }
})
