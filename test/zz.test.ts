/** The gateway as a whole: accounts stay apart, and a platform that fails is a 503. */
import t from 'tap'
import { answers, Clock, gateway, platform, sandbox, someHash } from './helper.js'

t.test('two accounts never see each other: by id, by list, from the cache, at the same time', async (t) => {
  const { url, hashes, accounts } = await sandbox(t)
  const { get, log } = await gateway(t, { env: { PLATFORM_URL: url } }); t.teardown(()=>console.error(log().split('\n').filter(l=>/warn|error/.test(l)).slice(0,4).join('\n').slice(0,3000)))
  const [one, two] = hashes
  const rounds = await Promise.all(
    Array.from({ length: 40 }, async (_, at) => {
      const [hash, other] = at % 2 === 0 ? [one, accounts[1]] : [two, accounts[0]]
      const [list, foreign] = await Promise.all([
        get('/v1/devices?limit=500', hash),
        get(`/v1/devices/${other?.firstDeviceId}`, hash),
      ])
      if (list.status!==200||foreign.status!==404) console.error('##', at, JSON.stringify(list.body).slice(0,200), JSON.stringify(foreign.body))
      t.equal(foreign.status, 404)
      return { at, ids: list.body.data?.map(({ id }: { id: number }) => id) as number[] }
    }),
  )
  const idsOf = (even: boolean) => new Set(rounds.filter(({ at }) => (at % 2 === 0) === even).flatMap(({ ids }) => ids))
  const [first, second] = [idsOf(true), idsOf(false)]
  t.same([first.size, second.size], [50, accounts[1]?.devices])
  t.notOk([...first].some((id) => second.has(id)))
})

