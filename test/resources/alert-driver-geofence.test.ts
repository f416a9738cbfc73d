/** Alerts, drivers and geofences from platform rows. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireAlert, wireDriver, wireGeofence } from '../../src/platform/wire.js'
import { toAlert } from '../../src/resources/alert.js'
import { toDriver } from '../../src/resources/driver.js'
import { toGeofence, toGeofenceItem } from '../../src/resources/geofence.js'
import { check } from './rows.js'

const fleet = [
  { id: 318, name: 'Van 4' },
  { id: 31, name: 'Lorry 9' },
]
const nameOf = (id: number) => fleet.find((device) => device.id === id)?.name
const known = { ids: fleet.map(({ id }) => id), name: nameOf }
const alert = (raw: object) => toAlert(read(wireAlert, { name: 'Rule', ...raw }), 61, known)

const oldAlert = { active: '1', overspeed_speed: '95', overspeed_distance: '1', devices: ['31'], email: '' }
const inOut = { active: 1, name: 'Harbour watch', type: 'geofence_inout', notifications: [], devices: [318, 500] }
const sameAlert = { object: 'alert', id: 61, active: true, all_devices: false } as const
check('an alert of each platform has all documented fields (N01, N41, N42, N43)', alert, [
  ['2.x', oldAlert, { ...sameAlert, name: 'Rule', type: 'overspeed', types: ['overspeed'], devices: fleet.slice(1) }],
  ['3.x', inOut, { ...sameAlert, name: 'Harbour watch', devices: [fleet[0]!, { id: 500, name: '' }] }],
])

const types = (...types: string[]) => ({ type: types[0]!, types })
check("alert types are the documented words, any other is the platform's (N41, N42)", alert, [
  ['both directions', inOut, types('geofence_in', 'geofence_out')],
  ['on', { type: 'ignition', state: 1 }, types('ignition_on')],
  ['off', { type: 'ignition', state: '2' }, types('ignition_off')],
  ['both states', { type: 'ignition', state: 0 }, types('ignition_on', 'ignition_off')],
  ['no state', { type: 'ignition' }, types('ignition_on', 'ignition_off')],
  ['offline', { type: 'offline_duration' }, types('device_offline')],
  ['in any case', { type: 'SOS' }, types('sos')],
  ['another word', { type: 'ignition_duration' }, types('ignition_duration')],
  ['no type, no speed', { overspeed_speed: '0' }, types('custom')],
  ['2.x, entering', { overspeed_speed: '0', geofences: [{ id: 27, zone: 1 }] }, types('geofence_in')],
  ['2.x, leaving', { geofences: [{ id: '27', zone: '2' }] }, types('geofence_out')],
  [
    '2.x, all at once',
    { overspeed_speed: '95', geofences: [{ zone: 2 }, { zone: 1 }] },
    types('overspeed', 'geofence_in', 'geofence_out'),
  ],
  ['ids of geofences say nothing', { geofences: [1, 2] }, types('custom')],
  ['nor do geofences beside a type', { type: 'sos', geofences: [{ zone: 1 }] }, types('sos')],
])

check('flags and devices are read in every form, each device once (N43, N44)', alert, [
  ...['0', 0, false].map((active): [string, object, object] => [`${active}`, { active }, { active: false }]),
  ['no flag', { notifications: { push: { active: '0' } } }, { active: true }],
  ['devices', { devices: [{ id: 318, name: 'x' }, { id: '31' }, 31, 'x', null] }, { devices: fleet }],
  ['for all', { for_all_user_devices: '1', devices: [31] }, { all_devices: true, devices: fleet }],
  ['not for all', { for_all_user_devices: '0', devices: [31] }, { all_devices: false, devices: fleet.slice(1) }],
  ['without a name, its type', { name: null, type: 'sos' }, { name: 'sos', type: 'sos' }],
])

const names: Record<number, string> = { 318: 'Van 4', 31: 'Lorry 9' }
const current: Record<number, number> = { 12: 318, 4: 31 }
const devices = { name: (id: number) => names[id], withDriver: (driver: number) => current[driver] }
const driver = ({ id = 99, ...raw }: { id?: number }) => toDriver(read(wireDriver, raw), id, devices)

const on = (assigned_device_id: number, assigned_device: string | null) => ({ assigned_device_id, assigned_device })
const oldDriver = { id: 1, device_id: '31', rfid: '', phone: '', device: { id: '31', name: 'Lorry nine' } }
const jo = { id: 12, phone: '+43 1 5550142', rfid: '7C21E9' }
const noTexts = { name: '', phone: '', rfid: '', assigned_device_id: null, assigned_device: null }
check('a driver has its texts, and the device of its row or of the device list (N01, N12, N49)', driver, [
  ['2.x', { ...oldDriver, name: 'Ann' }, { id: 1, name: 'Ann', phone: '', rfid: '', ...on(31, 'Lorry nine') }],
  ['3.x', { ...jo, name: ' Jo ', device_id: null, device: null }, { ...jo, name: 'Jo', ...on(318, 'Van 4') }],
  ['nothing', { name: null, rfid: '-', phone: null }, { id: 99, ...noTexts }],
  ['the device whose current driver it is', { id: 4 }, on(31, 'Lorry 9')],
  ['a device that the list lacks', { device_id: 500 }, on(500, null)],
  ['a nested name without an id', { device_id: 500, device: { name: 'Nested' } }, on(500, 'Nested')],
  ['only a nested device', { device: { id: 31, name: 'Nested' } }, on(31, 'Nested')],
  ['no nested name of another device', { device_id: 31, device: { id: 5, name: 'Other' } }, on(31, 'Lorry 9')],
  ['the row before the device list', { id: 12, device_id: 31 }, on(31, 'Lorry 9')],
])

const geofence = (raw: object) => toGeofence(read(wireGeofence, raw), 27)
const corners = [
  { lat: 48.22, lng: 16.41 },
  { lat: 48.24, lng: 16.42 },
  { lat: 48.22, lng: 16.43 },
]
/** The corners counter-clockwise and closed. */
const ring = [
  [16.43, 48.22],
  [16.42, 48.24],
  [16.41, 48.22],
  [16.43, 48.22],
]

const polygon = { type: 'Polygon' as const, coordinates: [ring] }
const old = { name: 'Harbour', created_at: '2016-02-03 10:20:30' }
const oldRow = { user_id: '2', active: '1', coordinates: JSON.stringify(corners, null, 2) }
const round = { type: 'circle', coordinates: '[]', center: { lat: '48.25', lng: '16.40' }, radius: 50 }
const yard = { active: 0, name: 'Yard\t', polygon_color: '#7aa3c1', created_at: '2026-01-09T07:00:00.000000Z' }
check('every documented field has a defined value, whatever the row has (N01, N37 to N40, N59)', geofence, [
  [
    'a polygon of platform 2.x',
    { ...oldRow, ...old, polygon_color: '#1f7a4d' },
    { ...old, id: 27, type: 'polygon', active: true, color: '#1F7A4D', geometry: polygon, radius: null },
  ],
  [
    'a circle of platform 3.x',
    { ...yard, ...round },
    {
      ...{ id: 27, name: 'Yard', type: 'circle', active: false, color: '#7AA3C1', created_at: '2026-01-09 07:00:00' },
      ...{ geometry: { type: 'Point', coordinates: [16.4, 48.25] }, radius: 50 },
    },
  ],
  ['N38 polygon with centre', { coordinates: corners, radius: 0, center: { lat: 0, lng: 0 } }, { radius: null }],
  ['N38 polygon with radius', { type: 'Polygon', radius: 90 }, { type: 'polygon', radius: null }],
  ['circle by radius', { radius: '60', coordinates: [] }, { type: 'circle', radius: 60 }],
  ['corners before radius', { radius: '60', coordinates: corners }, { type: 'polygon', radius: null }],
  ['radius as text', { type: 'circle', radius: '50 m' }, { type: 'circle', radius: 50, geometry: null }],
  ['circle without radius', { type: 'circle', radius: 0 }, { type: 'circle', radius: null }],
  ['no name', { name: '-' }, { name: 'Geofence 27' }],
  ['no type', {}, { type: 'polygon', active: true, color: '#000000', created_at: null }],
  ['N59 zero date', { created_at: '0000-00-00 00:00:00' }, { created_at: null }],
  ['short colour', { color: 'abc' }, { color: '#AABBCC' }],
  ['polygon_color before color', { polygon_color: '#111111', color: '#222222' }, { color: '#111111' }],
  ['colour name', { color: 'red' }, { color: '#000000' }],
])

t.test('a ring is closed once and counter-clockwise, in any order of corners (RFC 7946)', async (t) => {
  const [first, second, third] = corners
  const orders = [corners, corners.toReversed(), [...corners, first], [first, ...corners], [second, third, first]]
  const twice = [...ring, ...ring.slice(1)].join(' ')
  for (const coordinates of orders) {
    const geometry = geofence({ coordinates })?.geometry
    const points = geometry?.type === 'Polygon' ? geometry.coordinates[0] : []
    t.equal(points?.length, 4)
    t.ok(twice.includes(points?.join(' ') ?? '-'), 'from any corner')
  }
  // Two triangles of one area, in both directions: neither order is better.
  const [west, east, south, north] = [-6.67629, -2.25886, 17.29172, 17.84448]
  const tie = [west, east, east, west].map((lng, at) => ({ lat: at % 2 === 0 ? south : north, lng }))
  const text = JSON.stringify(geofence({ coordinates: tie })?.geometry)
  t.match(text, `[${west},${south}],[${east},${north}]`, 'a shape without area keeps its order')
})

t.test('a geofence has all of its corners, also 0/0 and those beyond the date line', async (t) => {
  const shown = (...corners: [lng: number, lat: number][]) =>
    geofence({ coordinates: corners.map(([lng, lat]) => ({ lat, lng })) })?.geometry
  const ring = (...coordinates: number[][]) => ({ type: 'Polygon' as const, coordinates: [coordinates] })
  t.strictSame(shown([0, 0], [1, 0], [1, 1], [0, 1]), ring([0, 0], [1, 0], [1, 1], [0, 1], [0, 0]))
  const east = ring([179.5, -17], [-179.5, -17], [-179.5, -16], [179.5, -16], [179.5, -17])
  t.strictSame(shown([179.5, -17], [180.5, -17], [180.5, -16], [179.5, -16]), east)
  const center = { lat: '-16,5', lng: '-180.25' }
  t.strictSame(geofence({ type: 'circle', radius: 50, center })?.geometry, {
    type: 'Point',
    coordinates: [179.75, -16.5],
  })
})

t.test('the item of a list is the geofence without its geometry, and costs no look at a corner', async (t) => {
  const wire = read(wireGeofence, { ...oldRow, ...yard })
  const { geometry, radius, ...item } = toGeofence(wire, 27)
  t.strictSame([geometry, radius], [polygon, null])
  const unread = wire.coordinates.map(() => new Proxy({}, { get: () => t.fail('a corner was read') }))
  t.strictSame(toGeofenceItem({ ...wire, coordinates: unread }, 27), item)
})

const none = { geometry: null }
check('a geofence without a usable shape has a null geometry', geofence, [
  ['no corners', { coordinates: [] }, none],
  ['two corners', { coordinates: corners.slice(0, 2) }, none],
  ['two different corners', { coordinates: [0, 0, 1, 0, 1].map((at) => corners[at]) }, none],
  ['one corner, repeated', { coordinates: [0, 0, 0].map((at) => corners[at]) }, none],
  ['an invalid corner beside three others', { coordinates: [...corners, { lat: 48, lng: 361 }] }, none],
  ['a corner that is null', { coordinates: [...corners, null] }, none],
  ['a corner that is text', { coordinates: JSON.stringify([...corners, '48.23,16.4']) }, none],
  ['a circle without a centre', { type: 'circle', center: { lat: 0, lng: 0 }, radius: 50 }, { ...none, radius: 50 }],
  ['another type', { type: 'corridor', coordinates: corners }, none],
])
