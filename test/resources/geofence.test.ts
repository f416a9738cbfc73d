/** Geofences from platform rows: list item, geometry and radius. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireGeofence } from '../../src/platform/wire.js'
import { toGeofence } from '../../src/resources/geofence.js'
import { check } from './rows.js'

const geofence = (raw: object) => toGeofence(read(wireGeofence, { id: 27, ...raw }))
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
const oldRow = { id: '27', user_id: '2', active: '1', coordinates: JSON.stringify(corners, null, 2) }
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
  ['long colour', { color: '#1f7a4d' }, { color: '#1F7A4D' }],
  ['polygon_color before color', { polygon_color: '#111111', color: '#222222' }, { color: '#111111' }],
  ['colour name', { color: 'red' }, { color: '#000000' }],
  ['number as colour', { color: 5 }, { color: '#000000' }],
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
  const square = [1, 2, 3, 4].map((n) => ({ lat: n > 2 ? 2 : 1, lng: n === 1 || n === 4 ? 1 : 2 }))
  const positions = [...square, ...square.slice(0, 1)].map(({ lat, lng }) => [lng, lat])
  t.strictSame(geofence({ coordinates: square })?.geometry, { type: 'Polygon', coordinates: [positions] })
})

const none = { geometry: null }
check('a geofence without a usable shape has a null geometry (N18)', geofence, [
  ['N18 broken text', { coordinates: '[{"lat":1' }, none],
  ['no corners', { coordinates: [] }, none],
  ['two corners', { coordinates: corners.slice(0, 2) }, none],
  ['two different corners', { coordinates: [0, 0, 1, 0, 1].map((at) => corners[at]) }, none],
  ['an invalid corner', { coordinates: [{ lat: 'x', lng: 1 }, ...corners.slice(1)] }, none],
  ['a circle without a centre', { type: 'circle', center: { lat: 0, lng: 0 }, radius: 50 }, { ...none, radius: 50 }],
  ['another type', { type: 'corridor', coordinates: corners }, none],
])

t.equal(toGeofence(read(wireGeofence, { name: 'x' })), undefined, 'no geofence without an id')
