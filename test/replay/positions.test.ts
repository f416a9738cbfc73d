/** A scrubbed exchange holds no true position, and keeps distances and courses. */
import fc from 'fast-check'
import t from 'tap'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { rotationBy } from '../../src/replay/rotation.js'
import { buildScrub } from '../../src/replay/scrub.js'
import { courseOf, distanceM } from '../../src/sandbox/geometry.js'
import { scrub, scrubbed } from './folders.js'

t.test('every position moves, distances stay, and a course still leads from one position to the next', async () => {
  const coordinate = (min: number, max: number) =>
    fc.double({ min, max, noNaN: true }).map((v) => Number(v.toFixed(6)) || 1)
  const position = fc.record({ lat: coordinate(-80, 80), lng: coordinate(-179, 179) })
  const away = fc.record({ lat: coordinate(0.005, 0.02), lng: coordinate(0.005, 0.02) })
  fc.assert(
    fc.property(position, away, fc.uuid(), (here, step, secret) => {
      const by = buildScrub(new Pseudonyms(secret))
      const { lat, lng } = here
      const there = { lat: lat > 0 ? lat - step.lat : lat + step.lat, lng: lng > 0 ? lng - step.lng : lng + step.lng }
      const [a, b] = scrubbed([{ ...here, course: courseOf(here, there) }, there], by) as [Course, Position]
      // Nearer to a pole or to longitude 180 the geometry of a plane ends.
      if (Math.abs(a.lat) > 89 || Math.abs(a.lng) > 178) return true
      const change = distanceM(a, b) - distanceM(here, there)
      const turned = Math.abs(a.course - courseOf(a, b))
      return a.course >= 0 && Math.abs(change) < 1 && Math.min(turned, 360 - turned) < 2 && distanceM(here, a) > 1_000
    }),
  )
})

t.test('positions turn by 30 degrees at least', async (t) => {
  for (const turn of [0, 0.9999]) {
    const { lat } = rotationBy([0.25, 0.5, turn])({ lat: 0, lng: 0 })
    t.ok(Math.abs(Math.abs(lat) - 30) < 0.1, `${lat}`)
  }
})

type Course = Position & { course: number }
type Position = { lat: number; lng: number }

t.test('a position moves to the same place in whatever form it is sent', async (t) => {
  const moved = scrubbed({ lat: 41.387917, lng: -2.169919 }) as Position
  const forms: ((lat: string, lng: string) => unknown)[] = [
    (latitude, longitude) => ({ latitude, longitude }),
    ...[', ', ' ', '/'].map((separator) => (lat: string, lng: string) => `${lat}${separator}${lng}`),
    (lat, lng) => `${lat}|${lng}`,
    (start_lat, start_lng) => ({ start_lat, start_lng }),
    (last_latitude, last_longitude) => ({ last_latitude, last_longitude }),
    (lastValidLatitude, lastValidLongitude) => ({ lastValidLatitude, lastValidLongitude }),
    (lat, lng) => ({ lat_1: lat, lng_1: lng, lat_2: '0', lng_2: '0' }),
    (lat, lng) => ({ traccar: { latest_positions: `${lat}/${lng};${lat}/${lng}` } }),
    (lat, lng) => ({ coordinates: JSON.stringify([{ lat, lng }]) }),
    (lat, lng) => ({ coordinates: [Number(lng), Number(lat)] }),
    (lat, lng) => ({ coordinates: [Number(lng), Number(lat), 12.5] }),
    (lat, lng) => ({ other: `<info><lat>${lat}</lat><lon>${lng}</lon></info>` }),
    (lat, lng) => ({ other_arr: [`lat: ${lat}`, `lng: ${lng}`] }),
  ]
  for (const form of forms)
    t.same(scrubbed(form('41.387917', '-2.169919')), form(moved.lat.toFixed(6), moved.lng.toFixed(6)))
  const withComma = { lat: moved.lat.toFixed(6).replace('.', ','), lng: moved.lng.toFixed(6).replace('.', ',') }
  t.same(scrubbed({ lat: '41,387917', lng: '-2,169919' }), withComma)
  for (const text of ['41,387917; -2,169919', '41,387917/-2,169919', '41,387917 -2,169919'])
    t.notMatch(JSON.stringify(scrubbed({ last_place: text })), /387|169/, text)
  for (let n = 1; n <= 40; n++) {
    const there = scrubbed({ lat: 41 + n / 100, lng: 2 }) as Position
    const { query } = scrub({ action: 'address', query: { lat: `${41 + n / 100}`, lon: '2' }, responses: [{}] })
    t.same(query, { lat: `${there.lat}`, lon: `${there.lng}` }, 'a lookup of the address of a position')
  }
  for (const [lat, lng] of [[51.477811, 0] as const, [0, 32.4437] as const])
    t.ok(distanceM(scrubbed({ lat, lng }) as Position, { lat, lng }) > 1_000, 'on the equator, or at longitude 0')
  t.same(scrubbed({ lat: 41.387917, course: 12 }), { lat: 0, course: 0 }, 'half a position is none')
  const turned = scrubbed({ lat: 41.387917, lng: 2.169919, course: 12 })
  t.match(scrubbed({ start_lat: 1, start_lng: 9, lat: 41.387917, lng: 2.169919, course: 12 }), turned)
})

t.test('a course turns with its position under every usual name, else it would reveal the rotation', async (t) => {
  const position = { lat: 41.387917, lng: 2.169919 }
  const { course } = scrubbed({ ...position, course: 92 }) as Course
  const names = `angle heading azimuth bearing direction cog gps_heading course_deg heading_degrees
    vehicleHeading vehicle_heading heading_true hdg trueCourse gpsCourse compass driving_direction`
  for (const name of names.split(/\s+/)) {
    t.match(scrubbed({ ...position, [name]: 92 }), { [name]: course })
    t.same(scrubbed({ other: `<info><${name}>92</${name}></info>` }), { other: `<info><${name}>0</${name}></info>` })
    t.same(scrubbed({ other_arr: [`${name}: 92`] }), { other_arr: [`${name}: 0`] })
    t.notMatch(JSON.stringify(scrubbed([{ [name]: '92 °' }, { [name]: [92] }])), '92', name)
  }
})

t.test('an angle that is no course stays', async (t) => {
  const others = { max_angle: 30, order_direction: 1, steering_angle: 12 }
  t.same(scrubbed(others), others)
})

t.test('a sensor shows no course and no coordinate, else it would reveal the rotation', async (t) => {
  const position = { lat: 41.387917, lng: 2.169919, course: 92 }
  const named = [{ type: 'course' }, { type: 'heading' }, { name: 'Course' }, { id: 'course' }, { type: 'latitude' }]
  const names = 'GPS course,Vehicle heading,Heading (deg),Course over ground,Direction of travel,GPS angle,GPSCourse'
  named.push(...names.split(',').map((name) => ({ name })))
  for (const name of named)
    for (const shown of [
      { value: '92.5 °', val: 92.5 },
      { value: 92.5, unit: '°', formatted: '92.5' },
      { val: '92.50' },
    ])
      for (const sensors of [[{ ...name, ...shown }], JSON.stringify([{ ...name, ...shown }])])
        t.notMatch(JSON.stringify(scrubbed([{ ...position, sensors }])), '92', JSON.stringify(sensors))
  const others = [{ id: 72, type: 'battery', name: 'Battery', value: '92.5 V', val: 92.5 }]
  t.same(scrubbed({ sensors: others }), { sensors: others })
})

t.test('a sensor of a history shows no course either, where only the list of sensors names it', async (t) => {
  const point = { lat: 41.387917, lng: 2.169919, course: 92 }
  for (const value of [92, '92', '92 °']) {
    const data = [
      { id: 'sensor_12', value },
      { id: 'speed', value: 50 },
    ]
    const history = {
      items: [{ items: [{ ...point, sensors_data: data, sensors_value: { sensor_12: value } }] }],
      sensors: [
        { id: 'sensor_12', name: 'Heading' },
        { id: 'speed', name: 'Speed' },
      ],
    }
    const after = JSON.stringify(scrubbed(history, scrub, 'get_history'))
    t.notMatch(after, '92', `${value}`)
    t.match(after, '{"id":"speed","value":50}')
  }
})

t.test('a position in a text moves whatever its decimals, since platforms write no zeros at the end', async (t) => {
  /** The separator of each position is in braces. */
  const texts = [
    '41.3879{/}2.17;26.4{/}18.811378',
    '41.38{/}2;41.3879{/}2.17;',
    '41.387{,}2.169',
    '41.3879{|}2.17',
    '41.3879{,}2.17|41.387{,}2.169',
    '12:03:09 41.3879{, }2.17.',
    'Polygon ((2.17{ }41.388, 2.1699{ }41.3879))',
    'Circle (2.17{ }41.388, 500)',
  ]
  for (const text of texts) {
    const after = text.replace(/([\d.]+)\{(.*?)\}(\d+(?:\.\d+)?)/g, (_, lat, separator, lng) => {
      const position = scrubbed({ lat: Number(lat), lng: Number(lng) }) as Position
      return position.lat.toFixed(6) + separator + position.lng.toFixed(6)
    })
    t.same(scrubbed({ remark: text.replace(/[{}]/g, '') }), { remark: after }, text)
  }
})

t.test('a position that means no fix is a constant in a recording, else it would reveal the rotation', async (t) => {
  const moved = scrubbed({ lat: 41.387917, lng: 2.169919, course: 92 })
  for (const [lat, lng, safe] of [
    [91, 181, { lat: 91, lng: 181 }],
    [999, 999, { lat: 91, lng: 181 }],
    [4123.275, 210.195, { lat: 91, lng: 181 }],
    [-41.387917, 361, { lat: 91, lng: 181 }],
    [90, 180, { lat: 90, lng: 0 }],
    [-90, 12.5, { lat: -90, lng: 0 }],
  ] as const) {
    t.same(scrubbed([{ lat, lng, course: 12 }]), [{ ...safe, course: 0 }], `${lat}/${lng}`)
    t.same(scrubbed({ center: { lat: lat.toFixed(1), lng: lng.toFixed(1) } }), {
      center: { lat: safe.lat.toFixed(6), lng: safe.lng.toFixed(6) },
    })
    t.same(scrubbed({ coordinates: [lng, lat] }), { coordinates: [safe.lng, safe.lat] })
    t.match(scrubbed({ start_lat: lat, start_lng: lng, lat: 41.387917, lng: 2.169919, course: 92 }), moved)
  }
  const [corner, same] = scrubbed([
    { lat: -17.5, lng: 181.25 },
    { lat: -17.5, lng: -178.75 },
  ]) as Position[]
  t.same(corner, same, 'a geofence may cross the date line')
})

t.test('a number that may be half a position is none, wherever it is', async (t) => {
  const cases: [unknown, unknown][] = [
    [{ end_lat: 41.387917 }, { end_lat: 0 }],
    [{ lat_1: '41.387917' }, { lat_1: '0.000000' }],
    [{ place: 41.387917 }, { place: 0 }],
    [{ other: '-41.387917' }, { other: '0' }],
    [{ bbox: [2.17, 41.387917, 2.18, 41.39, 5] }, { bbox: [0, 0, 0, 0, 5] }],
    [{ latlng: [41.387917, 2.169919] }, { latlng: [0, 0] }],
    [{ remark: '41.387917;2.17' }, { remark: '0;0' }],
    [{ remark: '(41.387917) 2.17' }, { remark: '(0) 0' }],
    [
      { x: '002.169919', c: '41,387917;002,169919' },
      { x: '0', c: '0;0' },
    ],
    [{ pos: '+41.387917+002.169919/' }, { pos: '+0+0/' }],
  ]
  for (const [before, after] of cases) t.same(scrubbed(before), after)
  const texts = ['+34600123456 41.387917,2.17', '<b>x</b> 41.387917,2.17', 'lat: 41.387917 lng: 2.17']
  for (const text of ['33.8688 S, 151.2093 E', '33.8688S 151.2093E', '33.8688 s'])
    t.notMatch(JSON.stringify(scrubbed({ remark: text, message: text })), /33|151/, text)
  for (const text of [...texts, 'lat:41.38,lng:2.17', 'x 41.387917%2C2.17'])
    t.notMatch(JSON.stringify(scrubbed({ remark: text })), /\.38|2\.17/, text)
})

t.test('a number that is no position stays', async (t) => {
  const texts = '12.5 km / 3.2 l, 3/4, 3.7.7, 12.5, 20.11.2026 10:20, 10:20:07.123456, 0.0671 km, 1.2345 V'.split(', ')
  const numbers = { distance: 1.5971, speed: 41.0367, altitude: '12.34567', fuel_per_km: '0.0671', total: 523.12345 }
  const lists = { values: [1.5, 2.25, 7], distances: [1.5971, 0.25] }
  for (const stays of [{ texts }, numbers, lists]) t.same(scrubbed(stays), stays)
})

t.test('no position is left in broken JSON in a string', async (t) => {
  const broken = '[{"lat":41.387917,"lng":2.169919},{"lat":41.388'
  for (const key of ['coordinates', 'tail', 'parameters'])
    t.notMatch(JSON.stringify(scrubbed({ [key]: broken })), /41\.38|2\.169/, key)
})
