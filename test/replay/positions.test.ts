/** A scrubbed exchange holds no true position, and keeps distances and courses. */
import fc from 'fast-check'
import t from 'tap'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { buildScrub, type Scrub } from '../../src/replay/scrub.js'
import { courseOf, distanceM } from '../../src/sandbox/geometry.js'
import { exchange } from './folders.js'

const scrub = buildScrub(new Pseudonyms('a secret of this test'))
const scrubbed = (json: unknown, by: Scrub = scrub): unknown =>
  by(exchange('get_devices', {}, { json })).responses[0]?.json

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
      return Math.abs(change) < 1 && Math.min(turned, 360 - turned) < 2 && distanceM(here, a) > 1_000
    }),
  )
})

type Course = Position & { course: number }
type Position = { lat: number; lng: number }

t.test('a position moves to the same place in whatever form it is sent', async (t) => {
  const moved = scrubbed({ lat: 41.387917, lng: -2.169919 }) as Position
  const forms: ((lat: string, lng: string) => unknown)[] = [
    (latitude, longitude) => ({ latitude, longitude }),
    ...[', ', ' ', '/'].map((separator) => (lat: string, lng: string) => `${lat}${separator}${lng}`),
    (lat, lng) => ({ traccar: { latest_positions: `${lat}/${lng};${lat}/${lng}` } }),
    (lat, lng) => ({ coordinates: JSON.stringify([{ lat, lng }]) }),
    (lat, lng) => ({ coordinates: [Number(lng), Number(lat)] }),
    (lat, lng) => ({ other: `<info><lat>${lat}</lat><lon>${lng}</lon></info>` }),
    (lat, lng) => ({ other_arr: [`lat: ${lat}`, `lng: ${lng}`] }),
  ]
  for (const form of forms)
    t.same(scrubbed(form('41.387917', '-2.169919')), form(moved.lat.toFixed(6), moved.lng.toFixed(6)))
  for (let n = 1; n <= 40; n++) {
    const there = scrubbed({ lat: 41 + n / 100, lng: 2 }) as Position
    const { query } = scrub({ action: 'address', query: { lat: `${41 + n / 100}`, lon: '2' }, responses: [{}] })
    t.same(query, { lat: `${there.lat}`, lon: `${there.lng}` }, 'a lookup of the address of a position')
  }
  t.same(scrubbed({ lat: 41.387917, course: 12 }), { lat: 0, course: 0 }, 'half a position is none')
})

t.test('no position is left in broken JSON in a string', async (t) => {
  const broken = '[{"lat":41.387917,"lng":2.169919},{"lat":41.388'
  for (const key of ['coordinates', 'tail', 'parameters'])
    t.notMatch(JSON.stringify(scrubbed({ [key]: broken })), /41\.38|2\.169/, key)
})
