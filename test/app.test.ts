/** The gateway as a whole: accounts stay apart, and the sandbox stands in for a platform. */
import t from 'tap'
import { Clock, gateway, sandbox } from './helper.js'

t.test('a sandbox behind PLATFORM_URL returns the same as the one in the process', async (t) => {
  const clock = new Clock()
  const { url, hashes } = await sandbox(t, { clock: clock.now })
  const [inside, outside] = await Promise.all([
    gateway(t, { clock: clock.now }),
    gateway(t, { clock: clock.now, env: { PLATFORM_URL: url } }),
  ])
  const [demo, own] = await Promise.all([inside.get('/v1/devices', 'demo'), outside.get('/v1/devices', hashes[0])])
  t.same(own.body, demo.body)
})

t.test('two accounts never see each other: by id, by list, from the cache, at the same time', async (t) => {
  const { url, hashes, accounts } = await sandbox(t)
  const { get } = await gateway(t, { env: { PLATFORM_URL: url } })
  const [one, two] = hashes
  const rounds = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const [hash, other] = at % 2 === 0 ? [one, accounts[1]] : [two, accounts[0]]
      const [list, foreign] = await Promise.all([
        get('/v1/devices?limit=500', hash),
        get(`/v1/devices/${other?.firstDeviceId}`, hash),
      ])
      t.equal(foreign.status, 404)
      return { at, ids: list.body.data.map(({ id }: { id: number }) => id) as number[] }
    }),
  )
  const idsOf = (even: boolean) => new Set(rounds.filter(({ at }) => (at % 2 === 0) === even).flatMap(({ ids }) => ids))
  const [first, second] = [idsOf(true), idsOf(false)]
  t.same([first.size, second.size], [50, accounts[1]?.devices])
  t.notOk([...first].some((id) => second.has(id)))
})

t.test('a trailing slash, an Accept header and HEAD change nothing about the response', async (t) => {
  const { get } = await gateway(t)
  t.equal((await get('/v1/devices/', 'demo')).status, 200)
  t.equal((await get('/v1/devices', 'demo', { headers: { accept: 'text/html' } })).status, 200)
  const head = await get('/v1/devices', 'demo', { method: 'HEAD' })
  t.same([head.status, head.body], [200, undefined])
  t.equal(head.headers.get('access-control-allow-origin'), null)
})
