/** `Cache-Control: stale-if-error`: the last known devices while the platform is unavailable, for callers who accept them. */
import type { RequestListener } from 'node:http'
import t, { type Test } from 'tap'
import { answers, Clock, gatewayOn, someHash } from '../helper.js'
import { createKey, otherHash, unauthorized } from '../limits.js'

/** A platform of two accounts that fails as told, and a gateway that has read the devices of the first one. */
async function outage(t: Test, env: Record<string, string> = {}) {
  const clock = new Clock()
  let failure: RequestListener | undefined
  const data = (device: number) => answers({ get_devices: [{ items: [{ id: device, lat: 1, lng: 2, timestamp: 1 }] }] })
  const { get } = await gatewayOn(t, { clock: clock.now, env: { ...env } }, (request, response) => {
    if (failure) return failure(request, response)
    data(request.url?.includes(encodeURIComponent(otherHash)) ? 2 : 1)(request, response)
  })
  const stale = (path: string, seconds: number | string = 600, credential = someHash) =>
    get(path, credential, { headers: { 'cache-control': `stale-if-error=${seconds}` } })
  const { body } = await createKey(get, { platform_hash: someHash })
  t.equal((await get('/v1/devices', someHash)).status, 200)
  const fail = (listener: RequestListener | undefined): void => {
    failure = listener
  }
  const down: RequestListener = (_request, response) => response.writeHead(500).end()
  const refuse: RequestListener = (_request, response) => response.writeHead(401).end(unauthorized)
  const forbid: RequestListener = (request, response) =>
    request.url?.includes('get_devices') ? response.writeHead(403).end(unauthorized) : data(1)(request, response)
  return { clock, get, stale, key: body.key as string, keyId: body.id as string, fail, down, refuse, forbid }
}

const paths = ['/v1/devices', '/v1/devices/1', '/v1/devices/1/location']

t.test('while the platform is down, only callers who accept stale devices get them, with their age', async (t) => {
  const { clock, get, stale, key, fail, down } = await outage(t)
  fail(down)
  // Beyond POSITION_TTL_MS and ACCOUNT_TTL_MS.
  clock.advance(90_000)
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
    for (const nonsense of ['', '-1', 'x', '0', 'x, x-stale-if-error=600'])
      t.equal((await stale(path, nonsense)).status, 503)
    t.equal((await stale(path, '"90"')).status, 200, 'quoted (RFC 9111 5.2)')
  }
  t.equal((await stale('/v1/devices/2')).status, 404, 'a device that was not in the list')
  for (const path of ['/v1/me', '/v1/keys', '/v1/geofences', '/v1/history/1?from=2026-05-11&to=2026-05-11'])
    t.equal((await stale(path)).status, 503, `${path} is never stale`)
  clock.advance(3_520_000)
  t.equal((await stale('/v1/devices', 999_999)).status, 503, 'never older than an hour')
})

t.test('a working platform is always read anew', async (t) => {
  const { clock, stale } = await outage(t)
  clock.advance(90_000)
  const { headers } = await stale('/v1/devices')
  t.same([headers.get('age'), headers.get('cache-status')], ['0', null])
})

t.test('a list that was read while the call for one device failed is not shown as stale', async (t) => {
  const { clock, get, stale, fail, down } = await outage(t)
  clock.advance(10_000)
  const one = new Promise<() => void>((resolve) => fail((...call) => resolve(() => down(...call))))
  const device = stale('/v1/devices/1')
  const endOne = await one
  fail(undefined)
  t.equal((await get('/v1/devices', someHash)).status, 200)
  endOne()
  const { status, headers } = await device
  t.same([status, headers.get('age'), headers.get('cache-status')], [200, '0', null])
})

t.test('after a refusal or a revocation nothing stale is left for that credential', async (t) => {
  for (const end of ['refuse', 'forbid', 'revoke'] as const) {
    const { clock, get, stale, key, keyId, fail, down, ...failures } = await outage(t)
    clock.advance(10_000)
    if (end === 'revoke') t.equal((await get(`/v1/keys/${keyId}`, someHash, { method: 'DELETE' })).status, 200)
    else {
      fail(failures[end])
      t.equal((await get('/v1/devices', key)).status, end === 'refuse' ? 401 : 403)
    }
    fail(down)
    t.not((await stale('/v1/devices', 600, key)).status, 200, end)
    if (end === 'revoke') t.equal((await stale('/v1/devices')).status, 200, 'the hash itself goes on')
    else t.not((await stale('/v1/devices')).status, 200, end)
  }
})

t.test('a refused validation leaves nothing stale, even if the platform then accepts the hash again', async (t) => {
  const { clock, get, stale, fail, down, refuse } = await outage(t)
  clock.advance(90_000)
  fail(refuse)
  t.equal((await get('/v1/me', someHash)).status, 401)
  fail(undefined)
  t.equal((await get('/v1/me', someHash)).status, 200)
  fail(down)
  t.equal((await stale('/v1/devices')).status, 503)
})

t.test('stale devices of one account never serve another', async (t) => {
  const { clock, get, stale, fail, down } = await outage(t)
  t.equal((await get('/v1/me', otherHash)).status, 200)
  fail(down)
  clock.advance(30_000)
  for (const path of paths) t.equal((await stale(path, 600, otherHash)).status, 503, path)
  t.equal((await stale('/v1/devices', 600, someHash.replace('ab', 'yy'))).status, 503, 'nor an unknown hash')
  t.equal((await stale('/v1/devices')).body.data[0].id, 1)
})
