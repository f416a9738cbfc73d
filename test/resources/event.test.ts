/** Events from platform rows, and their order. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { type WireSetup, wireEvent, wireSetup } from '../../src/platform/wire.js'
import { newestFirst, toEvent } from '../../src/resources/event.js'
import { eventKinds, needsList, typeFilter } from '../../src/resources/event-kind.js'
import { check } from './rows.js'

const names: Record<number, string> = { 318: 'Van 4', 31: 'Lorry 9' }
const kph = read(wireSetup, { item: { unit_of_distance: 'km' } })
const event = (raw: object, setup: WireSetup = kph) =>
  toEvent(read(wireEvent, { id: 5021, ...raw }), (id) => names[id], setup)

const message = 'Overspeed (90 kph)'
const place = { latitude: '48.22917', longitude: '16.41862', address: 'Quay 3', speed: '97.00' }
const old = { id: '5021', device_id: '31', geofence_id: '9', alert_id: '5', message, time: '2016-07-02 18:20:31' }
const texts = { type: 'ZONE_IN', message: 'Zone in (Harbour)', name: 'Zone in', detail: 'Harbour' }
const times = { time: '2026-05-11 13:47:02', created_at: '2026-05-11 13:47:05' }
const geofence = { id: 27, name: 'Harbour' }
const ids = { device_id: 318, device_name: 'Van four', alert_id: 14, geofence, latitude: 48.2, longitude: 16.4 }
const time = '04-05-2026 10:00:00'
check('each field is taken from the first place that has it (N01, N05, N34, N35, N36, N59)', event, [
  [
    'N35 platform 2.x: type from the message, name from the device list',
    { ...old, ...place },
    {
      ...{ id: 5021, type: 'overspeed', kind: 'speed.exceeded', message, device_id: 31, device: 'Lorry 9' },
      ...{ lat: 48.22917, lng: 16.41862, speed: 97, address: 'Quay 3', alert_id: 5, geofence: { id: 9, name: null } },
      timestamp: '2016-07-02 18:20:31',
    },
  ],
  [
    'N34, N36 platform 3.x: type and names in the row',
    { ...ids, ...texts, ...times, speed: 12, address: null, additional: { overspeed_speed: 90 } },
    {
      ...{ id: 5021, type: 'zone_in', kind: 'geofence.enter', message: 'Zone in (Harbour)' },
      ...{ device_id: 318, device: 'Van four', lat: 48.2, lng: 16.4, speed: 12, address: null },
      ...{ alert_id: 14, geofence, timestamp: '2026-05-11 13:47:02' },
    },
  ],
  ['N35 overspeed', { message: ' OVERSPEED (80 kph)' }, { type: 'overspeed' }],
  ['N35 only at the beginning', { message: 'No overspeed' }, { type: 'custom' }],
  ['N35 zone in', { message: 'Zone in' }, { type: 'zone_in' }],
  ['N35 zone out', { message: 'Depot: zone OUT' }, { type: 'zone_out' }],
  ['N35 other message', { message: 'Door opened' }, { type: 'custom' }],
  ['type before message', { type: 'sos', message: 'Zone in' }, { type: 'sos' }],
  ['name and detail', { name: 'SOS', detail: 'cabin' }, { message: 'SOS (cabin)' }],
  ['only a name', { name: 'SOS' }, { message: 'SOS' }],
  ['only a detail', { detail: 'cabin' }, { message: 'cabin' }],
  ['nested device', { device: { id: 7, name: 'Nested' } }, { device_id: 7, device: 'Nested' }],
  ['row before nested device', { device_id: 318, device: { id: 7 } }, { device_id: 318, device: 'Van 4' }],
  ['unknown device', { device_id: 999 }, { device_id: 999, device: '' }],
  ['no geofence', { geofence: null, geofence_id: null }, { geofence: null }],
  ['N36 geofence as text', { geofence: 'Dock' }, { geofence: { id: null, name: 'Dock' } }],
  ['geofence in parts', { geofence_id: 27, geofence_name: 'Dock' }, { geofence: { id: 27, name: 'Dock' } }],
  ['lat and lng', { lat: '48.1', lng: '16.2' }, { lat: 48.1, lng: 16.2 }],
  ['latitude before lat', { latitude: 48.2, longitude: 16.4, lat: 1, lng: 2 }, { lat: 48.2, lng: 16.4 }],
  ['N08 no position', { latitude: 0, longitude: 0 }, { lat: null, lng: null }],
  ['created_at', { created_at: '2026-05-11 10:00:00' }, { timestamp: '2026-05-11 10:00:00' }],
  ['N59 zero date', { time: '0000-00-00 00:00:00' }, { timestamp: null }],
  ['N05 nearest to its creation', { time, created_at: '2026-04-05 10:00:02' }, { timestamp: '2026-04-05 10:00:00' }],
  ['N05 the other', { time, created_at: '2026-05-04 10:00:02' }, { timestamp: '2026-05-04 10:00:00' }],
])

t.test("a speed is in km/h by the unit of the account's setup, and null without it", async (t) => {
  const speedIn = (unit_of_distance: string, speed: number) =>
    event({ speed }, read(wireSetup, { item: { unit_of_distance } }))?.speed
  t.same([speedIn('mi', 60), speedIn('mi', -60), speedIn('NM', 10), speedIn('km', 60)], [96.6, 0, 18.5, 60])
  t.equal(toEvent(read(wireEvent, { id: 1, speed: 60 }), () => undefined, undefined)?.speed, null)
})

t.test('each word of the platform has one kind, and harsh driving is in the message of a custom event', async (t) => {
  const rows: [kind: string, type: string, ...messages: string[]][] = [
    ['other', 'ignition', 'Ignition'],
    ['other', 'task_status', ''],
    ['alarm.triggered', 'sos', 'Harsh braking'],
    ['alarm.triggered', 'custom', 'Door opened', 'Hardware brake test', 'Harsh cornering', 'Sudden break-in'],
    ['harsh.brake', 'custom', 'Harsh braking', 'Harsh breaking', 'Frenada brusca', 'Sudden deceleration'],
    ['harsh.acceleration', 'custom', 'Hard acceleration'],
    ['maintenance.due', 'service', ''],
    ['maintenance.due', 'service_expired', ''],
    ['driver.changed', 'driver', ''],
    ['driver.changed', 'driver_unauthorized', ''],
  ]
  for (const [kind, type, ...messages] of rows) {
    for (const message of messages) {
      const found = event({ type, message })
      t.equal(found?.kind, kind, `${type} ${message}`)
      for (const sent of [type, kind]) t.ok(found && typeFilter(sent.toUpperCase()).matches(found), sent)
    }
  }
})

t.test('a filter sends the words of the platform for its kind, and only an exact one is trusted', async (t) => {
  const rows: [kind: string, words: string[], isExact: boolean, ...aliases: string[]][] = [
    ['geofence.enter', ['zone_in'], true],
    ['geofence.exit', ['zone_out'], true],
    ['speed.exceeded', ['overspeed'], true, 'speeding', 'speed_exceeded'],
    ['ignition.on', ['ignition_on'], true],
    ['ignition.off', ['ignition_off'], true],
    ['device.offline', ['offline_duration'], true],
    ['harsh.brake', ['custom'], false, 'harsh_brake'],
    ['harsh.acceleration', ['custom'], false, 'harsh_accel'],
    ['alarm.triggered', ['sos', 'custom'], false],
    ['maintenance.due', [], false, 'maintenance_due'],
    ['stop', ['stop_duration'], true],
    ['idle', ['idle_duration'], true],
    ['move.start', ['move_start'], true],
    ['driver.changed', [], false],
    ['fuel.filled', ['fuel_fill'], true],
    ['fuel.stolen', ['fuel_theft'], true],
    ['power.cut', ['unplugged'], true],
    ['other', [], false],
  ]
  t.strictSame(rows.map(([kind]) => kind).join(), eventKinds.map(({ kind }) => kind).join(), 'all kinds')
  for (const [kind, words, isExact, ...aliases] of rows) {
    for (const sent of [kind, kind.toUpperCase(), ...aliases]) t.hasStrict(typeFilter(sent), { words, isExact }, sent)
    if (isExact) t.equal(event({ type: words[0] })?.kind, kind)
  }
  const words = { geofence_in: 'zone_in', geofence_out: 'zone_out', device_offline: 'offline_duration' }
  for (const [sent, word] of Object.entries(words)) {
    t.hasStrict(typeFilter(sent), { words: [word, sent], isExact: true }, sent)
    for (const type of [word, sent]) t.ok(typeFilter(sent).matches({ type, kind: event({ type })?.kind ?? 'stop' }))
  }
  const listed = ['zone_in', 'Service_due', 'service', 'driver', 'service']
  t.hasStrict(typeFilter('maintenance_due', listed), { words: ['Service_due', 'service'], isExact: true })
  t.hasStrict(typeFilter('driver.changed', listed), { words: ['driver'], isExact: true })
  t.hasStrict(typeFilter('driver.changed', ['zone_in']), { words: [], isExact: false })
  t.strictSame(rows.map(([kind]) => kind).filter(needsList), ['maintenance.due', 'driver.changed'])
  t.ok(needsList('Maintenance_Due'))
  for (const word of ['overspeed', 'custom', 'teleport'])
    t.hasStrict(typeFilter(word), { words: [word], isExact: true }, word)
})

t.test('events are newest first, within a second by id, and last without a time', async (t) => {
  const times = { 1: '2026-05-11 10:00:00', 9: null, 3: '2026-05-11 10:00:00', 10: null, 2: '2026-05-12 10:00:00' }
  const rows = Object.entries(times).flatMap(([id, time]) => event({ id, time }) ?? [])
  for (const order of [rows, rows.toReversed()]) {
    const ids = order.toSorted(newestFirst).map(({ id }) => id)
    t.strictSame(ids, [2, 3, 1, 10, 9])
  }
})
