/** What the device cache forgets. */
import t from 'tap'
import { DeviceCache } from '../../src/devices/device-cache.js'
import type { Account } from '../../src/platform/account.js'
import { Clock } from '../helper.js'
import { jobs, now, row } from './worker.js'

/** A cache with room for so many bytes, and what it evicted; every account has the same device. */
async function cacheOf(t: Parameters<typeof jobs>[0], maxBytes: number) {
  const { devices } = await jobs(t, (_request, response) => response.end(JSON.stringify([{ items: [row(1)] }])))
  const columns = await devices(1)
  const account = (hashName: string) => ({ hashName, id: hashName, devices: async () => columns }) as unknown as Account
  const none = (): void => {}
  const evicted: number[] = []
  const options = { onSkipped: none, onUnknownState: none, onWallClock: none, onCorrected: none, onLookup: none }
  const clock = new Clock(now)
  const onEvicted = () => evicted.push(1)
  const cache = new DeviceCache({ ...options, ttlMs: 5_000, maxBytes, clock: clock.now, onEvicted })
  return { cache, account, clock, evicted }
}

t.test('everything of one account is forgotten, also what has expired, and nothing of another', async (t) => {
  const { cache, account, clock, evicted } = await cacheOf(t, 1_000_000)
  const [one, other] = [account('a'), account('ab')]
  for (const id of [undefined, 1, 2]) for (const each of [one, other]) await cache.fetch(each, id)
  const { bytes } = cache
  clock.advance(60_000)
  cache.delete(one)
  t.equal(cache.bytes, bytes / 2)
  for (const id of [undefined, 1, 2]) {
    t.equal(cache.stale(one, id, 90_000), undefined)
    t.ok(cache.stale(other, id, 90_000))
  }
  // What is evicted before can be forgotten, and fetched again.
  for (let id = 3; evicted.length < 10; id += 1) await cache.fetch(other, id)
  cache.delete(other)
  t.equal(cache.bytes, 0)
  t.equal((await cache.fetch(one)).length, 1)
})
