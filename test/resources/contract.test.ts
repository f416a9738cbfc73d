import fc from 'fast-check'
import fastify from 'fastify'
import t from 'tap'
import { type TSchema, Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { fleetOf } from '../../src/devices/fleet.js'
import { read, type Shape } from '../../src/platform/shape.js'
import {
  wireAlert,
  wireDevice,
  wireDriver,
  wireEvent,
  wireGeofence,
  wireHistory,
  wireService,
  wireSetup,
} from '../../src/platform/wire.js'
import { Alert, toAlert } from '../../src/resources/alert.js'
import { Device, DevicesQuery, needsZone, toDevice } from '../../src/resources/device.js'
import { Driver, driverContext, toDriver } from '../../src/resources/driver.js'
import { Event, EventsQuery, toEvent } from '../../src/resources/event.js'
import { Geofence, GeofenceDetail, toGeofence, toGeofenceDetail } from '../../src/resources/geofence.js'
import { History, HistoryQuery, toHistory } from '../../src/resources/history.js'
import { CreatedKey, CreateKey, Key, RevokedKey } from '../../src/resources/key.js'
import { ListOf, ListQuery, page } from '../../src/resources/list.js'
import { Location, toLocation } from '../../src/resources/location.js'
import { MaintenanceService, ServicesQuery, toMaintenanceService } from '../../src/resources/maintenance.js'
import { Me } from '../../src/resources/me.js'
import { today, toZone, wallClock } from '../../src/resources/zone.js'

const answers: Record<string, TSchema> = {
  Alert,
  CreatedKey,
  Device,
  Driver,
  Event,
  Geofence,
  GeofenceDetail,
  History,
  Key,
  Location,
  MaintenanceService,
  Me,
  RevokedKey,
}
const queries: Record<string, TSchema> = { DevicesQuery, EventsQuery, HistoryQuery, ListQuery, ServicesQuery }

/** Values the platform has been seen to send, or might, in place of any other. */
const odd = fc.constantFrom<unknown[]>(
  null,
  '',
  '-',
  '- km',
  0,
  -0,
  1,
  -1,
  '0',
  '1',
  true,
  false,
  [],
  {},
  'NaN',
  'Infinity',
  1e300,
  -1e300,
  1e15,
  5e-324,
  '1e400',
  '9'.repeat(400),
  'Expired',
  'Not connected',
  '0000-00-00',
  '0000-00-00 00:00:00',
  '31-12-9999 23:59:59',
  '9999-12-31 23:59:59',
  '04-05-2026 10:00:00',
  '2026-02-30',
  'online',
  'ack',
  'mph',
  'mi',
  'ft',
  'days',
  'odometer',
  'engine_hours',
  'circle',
  'polygon',
  'ignition',
  'geofence_inout',
  'exact',
  '03-29 02:00',
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  '[{"id":1,"lat":1,"lng":2}]',
  '[{',
  '12 mi',
  '6d.',
  'Left (5 km)',
  '1h 2min',
  8.64e15,
  253402300800,
)
const anything = fc.oneof(
  { weight: 4, arbitrary: odd },
  fc.anything({ maxDepth: 2 }),
  fc.double(),
  fc.integer(),
  fc.string(),
  fc.nat(400).map(String),
)

/** Any value that has the fields of a shape, with anything in them. */
function fitting(shape: Shape): fc.Arbitrary<unknown> {
  if (shape === 'scalar') return anything
  if (shape === 'ids') return fc.oneof(fc.array(anything, { maxLength: 4 }), anything)
  if (Array.isArray(shape))
    return fc.oneof({ weight: 4, arbitrary: fc.array(fitting(shape[0]), { maxLength: 4 }) }, anything)
  const fields = Object.entries(shape).map(([name, inner]): [string, fc.Arbitrary<unknown>] => [name, fitting(inner)])
  return fc.oneof({ weight: 8, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }) }, anything)
}

/** Half of the rows with a sound id and place, so that many make something, of whatever else they hold. */
const row = (shape: Shape) =>
  fc
    .tuple(fitting(shape), fc.integer({ min: 1, max: 9 }), fc.boolean())
    .map(([raw, id, sound]) => (sound ? { ...(raw as object), id, lat: 48.2, lng: 16.3 } : raw))

const now = Date.parse('2026-05-11T12:03:30Z')
const name = (id: number) => (id % 2 ? `Device ${id}` : undefined)

/** Throws unless the resource satisfies its schema, also after a trip through JSON, which knows no NaN and no undefined. */
function checker(schema: TSchema): { check(resource: unknown): void; made(): number } {
  const compiled = Compile(schema)
  let made = 0
  return {
    check: (resource) => {
      if (resource === undefined) return
      made++
      if (compiled.Check(resource) && compiled.Check(JSON.parse(JSON.stringify(resource)))) return
      throw new Error(`${JSON.stringify(resource)} ${JSON.stringify(compiled.Errors(resource))}`)
    },
    made: () => made,
  }
}

const numRuns = 400
const deviceOf = (raw: unknown) => toDevice(read(wireDevice, raw), now, { offsetMinutes: -840 })
const located = (raw: unknown) => {
  const device = deviceOf(raw)
  return device && toLocation(device)
}

const translations: [string, TSchema, Shape, (raw: unknown) => unknown][] = [
  ['device', Device, wireDevice, deviceOf],
  ['location', Location, wireDevice, located],
  ['geofence', Geofence, wireGeofence, (raw) => toGeofence(read(wireGeofence, raw))],
  ['single geofence', GeofenceDetail, wireGeofence, (raw) => toGeofenceDetail(read(wireGeofence, raw))],
  ['event', Event, wireEvent, (raw) => toEvent(read(wireEvent, raw), name)],
  ['alert', Alert, wireAlert, (raw) => toAlert(read(wireAlert, raw), name)],
  [
    'driver',
    Driver,
    wireDriver,
    (raw) => toDriver(read(wireDriver, raw), driverContext(fleetOf([], [read(wireDevice, raw)]))),
  ],
]

for (const [noun, schema, shape, translate] of translations) {
  t.test(`whatever the platform sends as a ${noun}, it becomes one by its schema or nothing`, async (t) => {
    const { check, made } = checker(schema)
    fc.assert(
      fc.property(row(shape), (raw) => check(translate(raw))),
      { numRuns },
    )
    t.ok(made() > numRuns / 5, `${made()} made`)
  })
}

t.test(
  'whatever the platform sends as a service and its device, it becomes a service by its schema or nothing',
  async (t) => {
    const { check, made } = checker(MaintenanceService)
    const property = fc.property(row(wireService), row(wireDevice), (service, device) =>
      check(toMaintenanceService(read(wireService, service), read(wireDevice, device), 20_584)),
    )
    fc.assert(property, { numRuns })
    t.ok(made() > numRuns / 5, `${made()} made`)
  },
)

t.test('whatever the platform sends as a history, it becomes one by its schema', async (t) => {
  const { check, made } = checker(History)
  const asked = { deviceId: 318, from: '2026-05-11', to: '2026-05-12' }
  const property = fc.asyncProperty(row(wireHistory), async (raw) =>
    check(await toHistory(read(wireHistory, raw), asked, async () => {})),
  )
  await fc.assert(property, { numRuns })
  t.equal(made(), numRuns)
})

t.test('a zone is missed only by a device whose time cannot be shown without it', async (t) => {
  const property = fc.property(row(wireDevice), (raw) => {
    const wire = read(wireDevice, raw)
    const shown = [toDevice(wire, now)?.last_seen, toDevice(wire, now, { offsetMinutes: 60 })?.last_seen]
    return shown[0] === shown[1] || needsZone(wire)
  })
  fc.assert(property, { numRuns })
  t.pass()
})

t.test('whatever the setup says, there is a zone and it shows a time', async (t) => {
  fc.assert(
    fc.property(fitting(wireSetup), (raw) => {
      const zone = toZone(read(wireSetup, raw))
      return (
        Math.abs(zone.offsetMinutes) <= 840 && wallClock(now, zone) !== undefined && Number.isInteger(today(now, zone))
      )
    }),
    { numRuns },
  )
  t.pass()
})

t.test('every resource says what it is, in which unit, and by an example that is one', async (t) => {
  for (const [noun, schema] of Object.entries({ ...answers, CreateKey })) {
    const { title, description, examples, properties } = schema as unknown as {
      title: string
      description: string
      examples: unknown[]
      properties: Record<string, { description?: string }>
    }
    t.equal(title, noun)
    t.type(description, 'string')
    t.ok(
      examples.length > 0 && examples.every((example) => Compile(schema).Check(example)),
      `${noun}: its examples are valid`,
    )
    for (const [field, { description }] of Object.entries(properties))
      t.type(description, 'string', `${noun}.${field} is described`)
  }
  for (const [noun, schema] of Object.entries(queries)) {
    for (const [field, { description }] of Object.entries(
      (schema as typeof DevicesQuery).properties as Record<string, { description?: string }>,
    ))
      t.type(description, 'string', `${noun}.${field} is described`)
  }
})

t.test('what is not documented does not leave, and null stays null, through the real serializer', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const examples: [string, unknown][] = []
  for (const [noun, schema] of Object.entries(answers)) {
    const example = (schema as unknown as { examples: [Record<string, unknown>] }).examples[0]
    examples.push([noun, example])
    app.get(`/${noun}`, { schema: { response: { 200: schema } } }, async () => ({ ...example, secret: 'x' }))
    app.get(`/list/${noun}`, { schema: { response: { 200: ListOf(schema) } } }, async () =>
      page([{ ...example, secret: 'x' }], {}),
    )
  }
  const bare = toDevice(read(wireDevice, { id: 1, sensors: [{ name: 'S' }] }), now)
  app.get('/bare', { schema: { response: { 200: Device } } }, async () => bare)
  for (const [noun, example] of examples) {
    t.same((await app.inject(`/${noun}`)).json(), example, noun)
    t.same((await app.inject(`/list/${noun}`)).json(), {
      object: 'list',
      count: 1,
      limit: 1,
      offset: 0,
      has_more: false,
      data: [example],
    })
  }
  t.same((await app.inject('/bare')).json(), bare)
  t.match(bare, {
    lat: null,
    lng: null,
    last_seen: null,
    driver: null,
    address: null,
    protocol: null,
    sensors: [{ value: null }],
  })
})

t.test('every geometry passes the real serializer whole', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const corners = [
    { lat: 1, lng: 2 },
    { lat: 3, lng: 4 },
    { lat: 1, lng: 4 },
  ]
  const rows = [
    { id: 1, coordinates: corners },
    { id: 2, type: 'circle', radius: 40.5, center: { lat: 1, lng: 2 } },
    { id: 3 },
  ]
  const details = rows.map((raw) => toGeofenceDetail(read(wireGeofence, raw)))
  app.get('/', { schema: { response: { 200: Type.Array(GeofenceDetail) } } }, async () => details)
  t.same((await app.inject('/')).json(), details)
  t.same(
    details.map((detail) => detail?.geometry?.type),
    ['Polygon', 'Point', undefined],
  )
})

t.test('a label may be of any script and up to 100 characters, without control characters', async (t) => {
  const app = fastify({ ajv: { customOptions: { coerceTypes: false } } })
  t.teardown(() => app.close())
  app.post('/', { schema: { body: CreateKey } }, async (request) => request.body)
  const status = async (body: object) =>
    (await app.inject({ method: 'POST', url: '/', payload: { platform_hash: 'h', ...body } })).statusCode
  for (const label of [
    '',
    'Диспетчер',
    '配車板',
    'لوحة',
    "L'été – №5",
    '😀',
    '👩\u200d🚒',
    'x'.repeat(100),
    '😀'.repeat(100),
  ])
    t.equal(await status({ label }), 200, encodeURI(label).slice(0, 40))
  for (const label of ['a\u0000', 'a\nb', 'a\u007f', 'a\u0085', 'a\u2028b', 'x'.repeat(101), 5, null])
    t.equal(await status({ label }), 400, encodeURI(String(label)).slice(0, 40))
  for (const expires_in_days of [1, 3650]) t.equal(await status({ expires_in_days }), 200)
  for (const expires_in_days of [0, 3651, 1.5, '5', null])
    t.equal(await status({ expires_in_days }), 400, String(expires_in_days))
  t.equal(await status({ platform_hash: '' }), 400)
  t.equal(await status({ platform_hash: undefined }), 400)
})
