/** Device lists of 10,000: what one costs, how many a second, and what they do to everybody else. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bodyOf, location, type Pace } from './cached.js'
import { flood, type Load, pace, rotate } from './load.js'
import { hashOf, memoryOf, type Part, type Parts, pins } from './parts.js'
import { median, race, rounded, spread, type Table } from './table.js'

const run = promisify(execFile)
const devices = 10_000
const program = fileURLToPath(new URL('pipeline.js', import.meta.url))

const listOf = (platform: Part, account = 0): string =>
  `${platform.url}/api/get_devices?lang=en&user_api_hash=${encodeURIComponent(hashOf(devices, account))}`

export async function listPipeline(parts: Parts, { rounds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const file = join(parts.folder('list'), 'list.json')
  const bytes = Buffer.from(await (await fetch(listOf(platform))).arrayBuffer())
  writeFileSync(file, bytes)
  const pin = pins ? ['taskset', '-c', '0'] : ['env']
  const one = async (how: string): Promise<{ ms: number; peakMb: number }> =>
    JSON.parse((await run(pin[0] as string, [...pin.slice(1), process.execPath, program, how, file, '7'])).stdout)
  const ways = {
    'JSON.parse, all translated and serialized': 'parse',
    'as it arrives: ready to be asked for': 'pack',
    'as it arrives, all translated and serialized': 'all',
  }
  const found = Object.values(ways).map((): { ms: number; peakMb: number }[] => [])
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, how] of Object.values(ways).entries()) found[i]?.push(await one(how))
  }
  const rows = Object.keys(ways).map((name, i) => {
    const own = found[i] ?? []
    return {
      name,
      'CPU ms': median(own.map(({ ms }) => ms)),
      ratio: rounded(median(own.map(({ ms }, round) => ms / (found[0]?.[round]?.ms ?? 1)))),
      'peak MB': Math.max(...own.map(({ peakMb }) => peakMb)),
      'spread %': spread(own.map(({ ms }) => ms)),
    }
  })
  return {
    subject: `One list of 10,000 devices (${Math.round(bytes.length / 1e6)} MB) from bytes to translated, serialized bytes`,
    note: 'All read the same file. The second is what the reading thread does; what is asked for of it is translated then, page by page, as in the third. Goals: ratio 0.30, 200 MB.',
    rows,
  }
}

export async function listThroughput(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, POSITION_TTL_MS: '1' })
  const proxy = await parts.peer('proxy', platform.url)
  const path = new URL(listOf(platform))
  const accounts = Array.from({ length: 8 }, (_, account) => hashOf(devices, account))
  // What is known to be long is asked for by the thread.
  for (const account of accounts) await bodyOf(`${gateway.url}/api/v1/devices?limit=1`, account)
  const dir = parts.folder('lua')
  const rows = await race(
    [
      {
        name: '@fastify/http-proxy, untranslated',
        run: () => flood({ url: `${proxy.url}${path.pathname}${path.search}`, connections: 4 }, 4 * seconds),
      },
      {
        name: 'gateway, 500 of them answered',
        run: () =>
          rotate({ url: `${gateway.url}/api/v1/devices?limit=500`, connections: 4 }, accounts, 4 * seconds, dir),
      },
    ],
    rounds,
  )
  return {
    subject: 'Lists of 10,000 devices fetched anew for each of 4 connections',
    note: `Goal: ratio 0.40. Peak memory of the gateway: ${memoryOf(gateway.pid, 'VmHWM')} MB (four lists at once).`,
    rows,
  }
}

/** The gateway's own 99th percentile of how late timers ring since it was last asked, milliseconds; its timer rings every 10. */
async function loopDelay({ opsUrl }: Part): Promise<number> {
  const text = await (await fetch(`${opsUrl}/metrics`)).text()
  return Math.max(0, Number(/^nodejs_eventloop_lag_p99_seconds ([\d.e-]+)/m.exec(text)?.[1]) * 1000 - 10)
}

export async function besideLists(parts: Parts, { rounds, seconds }: Pace): Promise<Table> {
  const platform = await parts.peer('platform', '0', 'other')
  const gateway = await parts.gateway({ PLATFORM_URL: `${platform.url}/api`, POSITION_TTL_MS: '2000' })
  const target = { url: gateway.url + location, credential: hashOf(50) }
  await bodyOf(target.url, target.credential)
  const found: Record<'quiet' | 'beside', (Load & { delay: number; lists: number })[]> = { quiet: [], beside: [] }
  // So many that none is remembered when its turn comes again.
  const accounts = Array.from({ length: 60 }, (_, account) => hashOf(devices, account))
  let turn = 0
  const observed = async (withLists: boolean): Promise<void> => {
    await loopDelay(gateway)
    let lists = 0
    let isOver = false
    const fetching = async (): Promise<void> => {
      for (; !isOver; lists += 1) {
        turn += 1
        await bodyOf(`${gateway.url}/api/v1/devices?limit=1`, accounts[turn % accounts.length] ?? '')
      }
    }
    const others = withLists ? fetching() : Promise.resolve()
    const load = await pace([target], 300, 4 * seconds)
    const delay = await loopDelay(gateway)
    isOver = true
    await others
    found[withLists ? 'beside' : 'quiet'].push({ ...load, delay, lists: lists / (4 * seconds) })
  }
  for (const account of accounts) await bodyOf(`${gateway.url}/api/v1/devices?limit=1`, account)
  await observed(true) // warms up
  found.beside = []
  for (let round = 0; round < rounds; round += 1) for (const withLists of [false, true]) await observed(withLists)
  const row = (name: string, own: (Load & { delay: number; lists: number })[]) => ({
    name,
    'p50 ms': rounded(median(own.map(({ p50 }) => p50))),
    'p99 ms': rounded(median(own.map(({ p99 }) => p99))),
    'p99 to quiet': rounded(median(own.map(({ p99 }, i) => p99 / (found.quiet[i]?.p99 ?? 1)))),
    'loop delay p99 ms': rounded(median(own.map(({ delay }) => delay))),
    'lists per second': rounded(median(own.map(({ lists }) => lists)), 1),
    'spread %': spread(own.map(({ p99 }) => p99)),
  })
  return {
    subject: 'A cached location, 300 a second, while lists of 10,000 devices are fetched without pause',
    note: `Goals: p99 3 times the quiet one, loop delay under 10 ms. Peak memory: ${memoryOf(gateway.pid, 'VmHWM')} MB.`,
    rows: [row('no lists', found.quiet), row('one list after the other', found.beside)],
  }
}
