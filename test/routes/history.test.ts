/** `GET /v1/history/:device_id`. */
import t from 'tap'
import { answers, gateway, platform, someHash } from '../helper.js'
import { fleet, metres } from './fleet.js'

t.test('the totals of a history agree with its positions', async (t) => {
  const { get, hash, id } = await fleet(t, 6)
  for (const device of [id, id + 1, id + 2, id + 3]) {
    const { body } = await get(`/v1/history/${device}?from=2026-05-10&to=2026-05-11`, hash)
    type Position = { time: string; lat: number; lng: number; speed: number }
    const positions: Position[] = body.positions
    if (positions.length === 0) {
      t.same([body.distance_km, body.top_speed], [0, 0])
      continue
    }
    const km = positions.slice(1).reduce((sum, at, before) => sum + metres(positions[before] as Position, at) / 1000, 0)
    t.ok(Math.abs(km - body.distance_km) <= 0.2 + km * 0.005, `${km} km of positions, ${body.distance_km} km in total`)
    t.equal(body.top_speed, Math.round(Math.max(...positions.map(({ speed }) => speed))))
    const times = positions.map(({ time }) => time)
    t.same(times, [...times].sort(), 'in time order')
    const span = (Date.parse(`${times.at(-1)}Z`) - Date.parse(`${times[0]}Z`)) / 1000
    t.ok(
      Math.abs(body.move_seconds + body.stop_seconds - span) <= 120,
      `${body.move_seconds} + ${body.stop_seconds} s in ${span} s`,
    )
  }
})

t.test('a history of 20,000 points is complete and in order', async (t) => {
  const time = (at: number) => new Date(Date.UTC(2026, 4, 11) + at * 4_000).toISOString().slice(0, 19).replace('T', ' ')
  const points = Array.from({ length: 20_000 }, (_, at) => ({
    id: at + 1,
    raw_time: time(at),
    lat: 40 + at / 1e5,
    lng: 2,
    speed: 30,
    other: 'x'.repeat(200),
  }))
  const history = {
    items: [{ status: 1, items: points }],
    distance_sum: '22.2 Km',
    top_speed: '30 kph',
    move_duration: '22h 13min',
    stop_duration: '0s',
    status: 1,
  }
  const { url } = await platform(
    t,
    answers({ get_devices: [{ title: 'A', items: [{ id: 1 }] }], get_history: history }),
  )
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/history/1?from=2026-05-11&to=2026-05-11', someHash)
  t.equal(body.positions.length, 20_000)
  t.match(body, { distance_km: 22.2, move_seconds: 79_980 })
  t.match(body.positions[19_999], { time: time(19_999), lat: 40.19999, lng: 2, speed: 30, address: null })
})
