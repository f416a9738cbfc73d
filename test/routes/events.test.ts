/** `GET /v1/events`. */
import t from 'tap'
import { answers, gateway, platform, someHash } from '../helper.js'
import { fleet, metres } from './fleet.js'

t.test('from and to are the same instant in every UTC offset', async (t) => {
  const { get, hash } = await fleet(t)
  const ids = async (range: string) =>
    (await get(`/v1/events?limit=200&${range}`, hash)).body.data.map(({ id }: { id: number }) => id)
  // The account's clock is UTC +01:00.
  const wall = await ids('from=2026-05-11T08:00:00&to=2026-05-11T20:00:00')
  t.ok(wall.length > 0)
  t.same(await ids('from=2026-05-11T07:00:00Z&to=2026-05-11T19:00:00Z'), wall)
  t.same(await ids('from=2026-05-11T12:30:00%2B05:30&to=2026-05-11T14:00:00-05:00'), wall)
  t.same(await ids('from=2026-05-11 08:00:00&to=2026-05-11T20:00'), wall)
  const day = await ids('from=2026-05-11&to=2026-05-11')
  t.same(await ids('from=2026-05-11T00:00:00&to=2026-05-11T23:59:59'), day, 'a date alone is the whole day')
})

t.test('each event is on the track of its day', async (t) => {
  const { get, hash, id } = await fleet(t, 4)
  let checked = 0
  for (const device of [id, id + 1, id + 2]) {
    const { body: history } = await get(`/v1/history/${device}?from=2026-05-11&to=2026-05-11`, hash)
    const { body: events } = await get(`/v1/events?device_id=${device}&from=2026-05-11&to=2026-05-11&limit=200`, hash)
    for (const event of events.data) {
      if (event.lat === null || event.type === 'offline_duration') continue
      const nearest = Math.min(
        ...history.positions.map((position: { lat: number; lng: number }) => metres(position, event)),
      )
      t.ok(nearest < 50, `${event.type} at ${event.timestamp} is ${Math.round(nearest)} m from the track`)
      checked += 1
    }
  }
  t.ok(checked > 10)
})

t.test('events of a platform that ignores the type are filtered exactly (N35)', async (t) => {
  const data = Array.from({ length: 65 }, (_, at) => ({
    id: 65 - at,
    device_id: 1,
    message: at % 3 === 0 ? 'Zone in' : 'Overspeed (90 kph)',
    time: '2026-05-11 10:00:00',
  }))
  const { url } = await platform(t, (request, response) => {
    const page = Number(new URL(request.url ?? '', 'http://localhost').searchParams.get('page') ?? 1)
    const items = {
      total: 65,
      per_page: 30,
      current_page: page,
      last_page: 3,
      data: data.slice((page - 1) * 30, page * 30),
    }
    answers({ get_devices: [{ title: 'A', items: [{ id: 1, name: 'Van' }] }], get_events: { status: 1, items } })(
      request,
      response,
    )
  })
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const { body } = await get('/v1/events?type=zone_in&limit=10&offset=5', someHash)
  const wanted = data.filter(({ message }) => message === 'Zone in').map(({ id }) => id)
  t.same(
    body.data.map(({ id }: { id: number }) => id),
    wanted.slice(5, 15),
  )
  t.equal(body.count, wanted.length)
  t.match(body.data[0], { device: 'Van', type: 'zone_in' })
})
