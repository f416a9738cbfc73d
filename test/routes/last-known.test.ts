/** `Cache-Control: stale-if-error`: the last known devices while the platform is unavailable, for callers who accept them. */
import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { answers, type Bodies, Clock, gatewayOn, someHash } from '../helper.js'
import { createKey, otherHash, revokeKey } from '../limits.js'

/** A platform of two accounts that fails as told, and a gateway that has read the devices of the first one. */
async function outage(t: Test) {
  const clock = new Clock()
  const get_devices: RequestListener = ({ url = '' }, response) => {
    const id = url.includes(encodeURIComponent(otherHash)) ? 2 : 1
    response.end(JSON.stringify([{ items: [{ id, lat: 1, lng: 2, timestamp: 1 }] }]))
  }
  const bodies: Bodies = { get_devices }
  const { get } = await gatewayOn(t, { clock: clock.now }, bodies)
  const stale = (path: string, seconds: number | string = 600, credential = someHash) =>
    get(path, credential, { headers: { 'cache-control': `stale-if-error=${seconds}` } })
  const { key, id: keyId } = (await createKey(get)).body as Record<'key' | 'id', string>
  t.equal((await get('/v1/devices', someHash)).status, 200)
  /** From now on the platform responds to each action with this status; without one, it works. */
  const fail = (status?: number): void => {
    Object.assign(bodies, { '*': status, get_devices: status ?? get_devices })
  }
  return { clock, get, stale, key, keyId, bodies, fail }
}

const paths = ['/v1/devices', '/v1/devices/1', '/v1/devices/1/location']

t.test('while the platform is down, only callers who accept stale devices get them, with their age', async (t) => {
  const { clock, get, stale, key, fail } = await outage(t)
  const ageOf = async () => {
    const { headers } = await stale('/v1/devices', 600)
    return [headers.get('age'), headers.get('cache-status')]
  }
  clock.advance(90_000)
  t.same(await ageOf(), ['0', null], 'none is stale while the platform works')
  fail(500)
  clock.advance(5_200)
  t.same(await ageOf(), ['5', 'gps-fleet-gateway; hit; ttl=-1'], 'stale at once')
  // Beyond POSITION_TTL_MS and ACCOUNT_TTL_MS.
  clock.advance(84_800)
  for (const path of paths) {
    t.equal((await get(path, someHash)).status, 503, path)
    for (const credential of [someHash, key]) {
      const { status, headers } = await stale(path, 90, credential)
      t.equal(status, 200, path)
      const shown = ['age', 'cache-control', 'cache-status'].map((name) => headers.get(name))
      t.same(shown, ['90', 'private, max-age=5', 'gps-fleet-gateway; hit; ttl=-85'], path)
      t.match(headers.get('etag'), /^W/)
      t.equal((await stale(path, 89, credential)).status, 503, 'no older than the caller says')
    }
    for (const nonsense of ['', '-1', 'x', '0', '90x', '"90', 'x, x-stale-if-error=600'])
      t.equal((await stale(path, nonsense)).status, 503)
    t.equal((await stale(path, '"90"')).status, 200, 'quoted (RFC 9111 5.2)')
  }
  t.equal((await stale('/v1/devices/2')).status, 404, 'a device that was not in the list')
  for (const path of ['/v1/me', '/v1/keys', '/v1/geofences', '/v1/history/1?from=2026-05-11&to=2026-05-11'])
    t.equal((await stale(path)).status, 503, `${path} is never stale`)
  clock.advance(3_520_000)
  t.equal((await stale('/v1/devices', 999_999)).status, 503, 'never older than an hour')
})

t.test('however recent the devices are, the credential was validated as recently as the caller says', async (t) => {
  const { clock, get, stale, fail } = await outage(t)
  clock.advance(59_000)
  t.equal((await get('/v1/devices', someHash)).status, 200)
  fail(500)
  clock.advance(2_000)
  t.equal((await stale('/v1/devices', 60)).status, 503)
  t.equal((await stale('/v1/devices', 61)).status, 200)
})

t.test('after the clock was set back, no older devices are taken for recent ones', async (t) => {
  const { clock, get, stale, fail } = await outage(t)
  clock.advance(-3_600_000)
  t.equal((await get('/v1/me', someHash)).status, 200)
  fail(500)
  t.equal((await stale('/v1/devices')).status, 503, 'read in the future')
  clock.advance(3_600_000)
  t.equal((await stale('/v1/devices', 3_600)).status, 503, 'once the clock shows that time again')
})

t.test('a list that was read while the call for one device failed is not shown as stale', async (t) => {
  const { clock, get, stale, bodies, fail } = await outage(t)
  clock.advance(10_000)
  const one = new Promise<() => void>((resolve) => {
    bodies.get_devices = (...call: Parameters<RequestListener>) => resolve(() => answers({ '*': 500 })(...call))
  })
  const device = stale('/v1/devices/1')
  const endOne = await one
  fail()
  t.equal((await get('/v1/devices', someHash)).status, 200)
  endOne()
  const { status, headers } = await device
  t.same([status, headers.get('age'), headers.get('cache-status')], [200, '0', null])
})

t.test('after a refusal or a revocation nothing stale is left for that credential', async (t) => {
  for (const end of [401, 403, 'revoked', 'accepted again'] as const) {
    const { clock, get, stale, key, keyId, bodies, fail } = await outage(t)
    clock.advance(end === 'accepted again' ? 90_000 : 10_000)
    if (end === 'revoked') t.equal((await revokeKey(get, keyId)).status, 200)
    else if (end === 'accepted again') {
      for (const status of [401, undefined]) {
        fail(status)
        t.equal((await get('/v1/me', someHash)).status, status ?? 200)
      }
    } else {
      bodies.get_devices = end
      t.equal((await get('/v1/devices', key)).status, end)
    }
    fail(500)
    t.not((await stale('/v1/devices', 600, key)).status, 200, `${end}`)
    // The hash itself goes on after a revocation.
    t.equal((await stale('/v1/devices')).status === 200, end === 'revoked', `${end}`)
  }
})

t.test('stale devices of one account never serve another', async (t) => {
  const { clock, get, stale, fail } = await outage(t)
  t.equal((await get('/v1/me', otherHash)).status, 200)
  fail(500)
  clock.advance(30_000)
  for (const path of paths) t.equal((await stale(path, 600, otherHash)).status, 503, path)
  t.equal((await stale('/v1/devices', 600, someHash.replace('ab', 'yy'))).status, 503, 'nor an unknown hash')
  t.equal((await stale('/v1/devices')).body.data[0].id, 1)
})
