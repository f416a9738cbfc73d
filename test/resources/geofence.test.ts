/** Geofences from platform rows: list item, geometry and radius. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireGeofence } from '../../src/platform/wire.js'
import { toGeofence } from '../../src/resources/geofence.js'

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

t.test('a geofence of platform 2.x is a polygon (N01, N39)', async (t) => {
  const same = { name: 'Harbour', created_at: '2016-02-03 10:20:30' }
  const coordinates = JSON.stringify(corners, null, 2)
  const raw = { ...same, id: '27', user_id: '2', active: '1', coordinates, polygon_color: '#1f7a4d' }
  const item = { ...same, id: 27, type: 'polygon', active: true, color: '#1F7A4D' }
  t.strictSame(geofence(raw), { ...item, geometry: { type: 'Polygon', coordinates: [ring] }, radius: null })
})

t.test('a circle of platform 3.x is a point with a radius (N37, N40)', async (t) => {
  const shape = { type: 'circle', coordinates: '[]', center: { lat: '48.25', lng: '16.40' }, radius: 50 }
  const raw = { active: 0, name: 'Yard\t', polygon_color: '#7aa3c1', created_at: '2026-01-09T07:00:00.000000Z' }
  t.strictSame(geofence({ ...raw, ...shape }), {
    ...{ id: 27, name: 'Yard', type: 'circle', active: false, color: '#7AA3C1', created_at: '2026-01-09 07:00:00' },
    ...{ geometry: { type: 'Point', coordinates: [16.4, 48.25] }, radius: 50 },
  })
})

t.test('every documented field has a defined value, whatever the row has (N38, N40, N59)', async (t) => {
  const rows: [name: string, raw: object, expected: object][] = [
    ['N38 polygon with centre', { coordinates: corners, radius: 0, center: { lat: 0, lng: 0 } }, { radius: null }],
    ['N38 polygon with radius', { type: 'Polygon', radius: 90 }, { type: 'polygon', radius: null }],
    ['circle by radius', { radius: '60', coordinates: [] }, { type: 'circle', radius: 60 }],
    ['corners before radius', { radius: '60', coordinates: corners }, { type: 'polygon', radius: null }],
    ['radius as text', { type: 'circle', radius: '50 m' }, { type: 'circle', radius: 50 }],
    ['circle without radius', { type: 'circle', radius: 0 }, { type: 'circle', radius: null }],
    ['no name', { name: '-' }, { name: 'Geofence 27' }],
    ['no type', {}, { type: 'polygon', active: true, color: '#000000', created_at: null }],
    ['N59 zero date', { created_at: '0000-00-00 00:00:00' }, { created_at: null }],
    ['short colour', { color: 'abc' }, { color: '#AABBCC' }],
    ['long colour', { color: '#1f7a4d' }, { color: '#1F7A4D' }],
    ['polygon_color before color', { polygon_color: '#111111', color: '#222222' }, { color: '#111111' }],
    ['colour name', { color: 'red' }, { color: '#000000' }],
    ['number as colour', { color: 5 }, { color: '#000000' }],
  ]
  for (const [name, raw, expected] of rows) t.hasStrict(geofence(raw), expected, name)
  t.equal(toGeofence(read(wireGeofence, { name: 'x' })), undefined, 'no id')
})

t.test('a ring is closed once and counter-clockwise, in any order of corners (RFC 7946)', async (t) => {
  const [first, second, third] = corners
  const orders = [corners, corners.toReversed(), [...corners, first], [first, ...corners], [second, third, first]]
  for (const coordinates of orders) {
    const geometry = geofence({ coordinates })?.geometry
    const points = geometry?.type === 'Polygon' ? (geometry.coordinates[0] ?? []) : []
    t.equal(points.length, 4)
    t.strictSame(points[0], points.at(-1))
    const area = points.slice(1).reduce((sum, [x = 0, y = 0], at) => {
      const [previousX = 0, previousY = 0] = points[at] ?? []
      return sum + previousX * y - x * previousY
    }, 0)
    t.ok(area > 0)
  }
})

t.test('corners that share a latitude or longitude all count', async (t) => {
  const square = [1, 2, 3, 4].map((n) => ({ lat: n > 2 ? 2 : 1, lng: n === 1 || n === 4 ? 1 : 2 }))
  const positions = [...square, ...square.slice(0, 1)].map(({ lat, lng }) => [lng, lat])
  t.strictSame(geofence({ coordinates: square })?.geometry, { type: 'Polygon', coordinates: [positions] })
})

t.test('a geofence without a usable shape has a null geometry (N18)', async (t) => {
  const shapes: [name: string, raw: object][] = [
    ['N18 broken text', { coordinates: '[{"lat":1' }],
    ['no corners', { coordinates: [] }],
    ['two corners', { coordinates: corners.slice(0, 2) }],
    ['two different corners', { coordinates: [corners[0], corners[0], corners[1], corners[0], corners[1]] }],
    ['an invalid corner', { coordinates: [{ lat: 'x', lng: 1 }, ...corners.slice(1)] }],
    ['a circle without a centre', { type: 'circle', center: { lat: 0, lng: 0 }, radius: 50 }],
    ['another type', { type: 'corridor', coordinates: corners }],
  ]
  for (const [name, raw] of shapes) t.equal(geofence(raw)?.geometry, null, name)
  t.equal(geofence({ type: 'circle', radius: 50 })?.radius, 50, 'the radius stays')
})
