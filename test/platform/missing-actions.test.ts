/** Missing actions: what is remembered of a 404, for how long, and for whom. */
import t from 'tap'
import { Account } from '../../src/platform/account.js'
import { MissingActions } from '../../src/platform/missing-actions.js'
import { answers, Clock, platform as openPlatform, platformClient, someHash } from '../helper.js'

t.test('after two such responses in a row an action is missing, for five minutes, for that account', async (t) => {
  const clock = new Clock()
  const missing = new MissingActions(clock.now)
  missing.record('a', 'services', true)
  t.notOk(missing.has('a', 'services'), 'one may be a deploy or a load balancer')
  missing.record('a', 'services', false)
  missing.record('a', 'services', true)
  t.notOk(missing.has('a', 'services'), 'any other response between them')
  clock.advance(3_600_000)
  missing.record('a', 'services', true)
  t.ok(missing.has('a', 'services'))
  t.notOk(missing.has('b', 'services'))
  t.notOk(missing.has('a', 'get_services'))
  clock.advance(299_999)
  t.ok(missing.has('a', 'services'))
  clock.advance(1)
  t.notOk(missing.has('a', 'services'))
  missing.record('a', 'services', true)
  t.ok(missing.has('a', 'services'), 'still missing: five minutes more')
  clock.advance(300_000)
  missing.record('a', 'services', false)
  missing.record('a', 'services', true)
  t.notOk(missing.has('a', 'services'), 'after an upgrade it counts from the start')
})

t.test('an action that the platform gets with an upgrade is used some minutes later, without a restart', async (t) => {
  let isUpgraded = false
  let isDown = false
  const { url, calls } = await openPlatform(t, (request, response) => {
    if (isDown) response.writeHead(500).end()
    else answers(isUpgraded ? { services: { data: [{ id: 1 }] } } : {})(request, response)
  })
  const clock = new Clock()
  const platform = platformClient(t, url, { timeoutMs: 2_000, now: clock.now })
  const accountOf = (hash: string) => new Account(platform, hash, { id: 'a', email: null }, () => {})
  const [account, other] = [accountOf(someHash), accountOf(`${someHash}x`)]
  t.equal(await account.services(), undefined)
  isDown = true
  await t.rejects(account.services(), 'a failure is no response')
  isDown = false
  t.equal(await account.services(), undefined)
  t.equal(calls.length, 3)
  t.equal(await account.services(), undefined)
  t.equal(calls.length, 3, 'known to be missing: no request')
  isUpgraded = true
  t.equal((await other.services())?.length, 1, 'another account has its own memory')
  t.equal(await account.services(), undefined)
  clock.advance(300_000)
  t.equal((await account.services())?.length, 1)
  t.equal((await account.services())?.length, 1)
})
