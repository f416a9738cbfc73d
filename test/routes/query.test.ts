/** What the routes of lists share: however many rows a list has, its account takes turns with others. */
import type { FastifyReply } from 'fastify'
import t from 'tap'
import type { Account } from '../../src/platform/account.js'
import { sendRows } from '../../src/routes/query.js'
import { gatewayOn, someHash } from '../helper.js'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('the rows of a list are translated and serialized in turns of their account', async (t) => {
  let turns = 0
  const account = { turn: async () => void turns++ } as unknown as Account
  const reply = { request: { account }, reserve: () => {}, type: () => {} } as unknown as FastifyReply
  const rows = Array.from({ length: 1_000 }, (_, at) => ({ id: at + 1, row: {} }))
  const turnsOf = async (toItem: (id: number) => { id: number }): Promise<number> => {
    turns = 0
    const body = await sendRows(reply, rows, {}, (_row, id) => toItem(id))
    t.same(JSON.parse(String(body)).data.at(-1), { id: 1_000 })
    return turns
  }
  // Turns of 5 ms.
  const translating = await turnsOf((id) => {
    if (id % 10 === 0) work(1)
    return { id }
  })
  t.ok(translating >= 10, `${translating} turns`)
  const serializing = await turnsOf((id) => {
    const toJSON = () => {
      if (id % 10 === 0) work(1)
      return { id }
    }
    return { id, toJSON }
  })
  t.ok(serializing >= 8, `${serializing} turns`)
})

t.test('geofences of so many corners that they would hold up all other requests are refused', async (t) => {
  const corners = (count: number) => Array.from({ length: count }, (_, at) => ({ lat: at % 80, lng: at % 170 }))
  const geofences = [100_000, 100_000, 1].map((count, at) => ({ id: at + 1, name: 'A', coordinates: corners(count) }))
  const bodies = { get_geofences: { items: { geofences } } }
  const { get } = await gatewayOn(t, bodies)
  const statuses = async () => {
    const paths = ['geofences/1', 'geofences?format=geojson&limit=2', 'geofences?format=geojson', 'geofences']
    const sent = await Promise.all(paths.map((path) => get(`/v1/${path}`, someHash)))
    return sent.map(({ status }) => status)
  }
  t.same(await statuses(), [200, 200, 503, 200], 'all of one response count')
  bodies.get_geofences.items.geofences = [{ id: 1, name: 'A', coordinates: corners(200_001) }]
  t.same(await statuses(), [503, 503, 503, 200])
})
