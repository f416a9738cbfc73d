/** Missing actions: what is remembered of a 404, for how long, and for whom. */
import t from 'tap'
import { Account } from '../../src/platform/account.js'
import { type Bodies, Clock, platform as openPlatform, platformClient, someHash } from '../helper.js'

t.test('after two 404 in a row an action is not requested for five minutes, and then again', async (t) => {
  const bodies: Bodies = {}
  const { url, calls } = await openPlatform(t, bodies)
  const clock = new Clock()
  const platform = platformClient(t, url, { timeoutMs: 2_000, now: clock.now })
  const accountOf = (hash: string) => new Account(platform, hash, { id: 'a', email: null }, () => {})
  const [account, other] = [accountOf(someHash), accountOf(`${someHash}x`)]
  const requests = async (): Promise<number> => {
    const before = calls.length
    t.equal(await account.services(), undefined)
    return calls.length - before
  }
  t.equal(await requests(), 1)
  bodies.services = 500
  await t.rejects(account.services(), 'a failure is no response')
  delete bodies.services
  t.same([await requests(), await requests()], [1, 0], 'known to be missing: no request')
  clock.advance(299_999)
  t.equal(await requests(), 0)
  clock.advance(1)
  t.same([await requests(), await requests()], [1, 0], 'still missing: five minutes more')
  bodies.services = { data: [{ id: 1 }] }
  t.equal((await other.services())?.length, 1, 'another account has its own memory')
  t.equal(await account.services(), undefined)
  clock.advance(300_000)
  t.equal((await account.services())?.length, 1)
  t.equal((await account.services())?.length, 1)
  delete bodies.services
  t.same([await requests(), await requests(), await requests()], [1, 1, 0], 'it counts from the start')
})
