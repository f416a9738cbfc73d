/** With a heap of 256 MB, no size or number of platform responses ends the process, and other accounts are served meanwhile. */
import type { ServerResponse } from 'node:http'
import t from 'tap'
import { answers, platform, someHash } from '../helper.js'
import { gatewayProcess } from '../process.js'

const MB = 1024 * 1024

/** Writes a long body without holding it. */
function stream(response: ServerResponse, start: string, chunks: readonly Buffer[], end: string): void {
  let at = 0
  const more = (): void => {
    while (at < chunks.length && !response.destroyed) {
      if (!response.write(chunks[at++])) return void response.once('drain', more)
    }
    response.end(end)
  }
  response.write(start)
  more()
}

const stamp = (second: number): string =>
  new Date(Date.UTC(2026, 4, 11) + second * 500).toISOString().replace('T', ' ').slice(0, 19)
const point = (id: number): string => {
  const place = { latitude: 48 + id / 1e6, longitude: 9, altitude: 400, course: 12, speed: id % 90 }
  return `${id > 0 ? ',' : ''}${JSON.stringify({ id, raw_time: stamp(id), ...place, other: 'x'.repeat(60) })}`
}
/** 100,000 points of the recorded size, a hundred in each chunk. */
const points = Array.from({ length: 1_000 }, (_, chunk) =>
  Buffer.from(Array.from({ length: 100 }, (_, at) => point(100 * chunk + at)).join('')),
)
const filler = Array<Buffer>(60).fill(Buffer.from(`"${'x'.repeat(MB)}",`))

t.test('histories of 100,000 points and documents of 60 MB, many at once', async (t) => {
  const small = answers({ get_devices: [{ title: 'A', items: [{ id: 7, name: 'Van' }] }] })
  const { url } = await platform(t, (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost')
    if (pathname.endsWith('get_history')) {
      stream(response, '{"items":[{"status":1,"items":[', points, ']}],"distance_sum":"9 Km","top_speed":"89 kph"}')
    } else if (pathname.endsWith('get_geofences')) {
      stream(response, '{"items":{"geofences":[', filler, '""]}}')
    } else small(request, response)
  })
  const env = { PLATFORM_URL: url, ACCOUNT_TTL_MS: '600000', POSITION_TTL_MS: '600000', PLATFORM_TIMEOUT_MS: '60000' }
  const child = await gatewayProcess(t, { ...env, NODE_OPTIONS: '--max-old-space-size=256' })
  const hashOf = (name: string): string => someHash.replace('ab', name)
  const status = async (name: string, path: string) => (await child.get(`/v1/${path}`, hashOf(name))).status
  t.equal(await status('zz', 'devices/7'), 200)
  const history = (name: string) => status(name, 'history/7?from=2026-05-11&to=2026-05-11')
  t.equal(await history('a0'), 200, 'one is served')
  const names = Array.from({ length: 10 }, (_, at) => `b${at}`)
  const atOnce = await Promise.all(names.flatMap((name) => [history(name), status(name, 'geofences')]))
  t.ok(
    atOnce.every((one) => one === 200 || one === 503),
    JSON.stringify(atOnce),
  )
  t.equal(await status('zz', 'devices/7'), 200, 'another account is served')
  t.equal(await history('a1'), 200, 'and so is a long history afterwards')
  t.equal((await fetch(`${child.url}/health`)).status, 200)
})
