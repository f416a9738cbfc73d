/** Measures a large device list on its way through a socket, held and projected: `node large.js [devices]`. Each in a process of its own. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Platform } from '../../src/platform/client.js'
import { deviceList } from './device-list.js'

type Way = 'held' | 'projected' | 'packed'
interface Measured {
  ms: number
  cpuMs: number
  stallMs: number
  /** How much the process grew at most. */
  grownMb: number
}

async function serve(devices: number): Promise<void> {
  const bodies = { all: deviceList(devices), few: deviceList(1_000) }
  const packed = { all: await promisify(gzip)(bodies.all), few: await promisify(gzip)(bodies.few) }
  const server = createServer((request, response) => {
    const isPacked = request.url?.startsWith('/packed')
    if (isPacked) response.setHeader('content-encoding', 'gzip')
    response.end((isPacked ? packed : bodies)[request.url?.includes('/few') ? 'few' : 'all'])
  })
  server.listen(0, '127.0.0.1', () =>
    process.send?.({ port: (server.address() as AddressInfo).port, bytes: bodies.all.length }),
  )
}

/** As it would be without a projector. */
async function hold(url: string): Promise<unknown> {
  const [response] = await once(get(url), 'response')
  const chunks: Uint8Array[] = []
  for await (const chunk of response) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString())
}

async function receive(way: Way, port: number): Promise<Measured> {
  const asked = async (path: string) => {
    const base = `http://127.0.0.1:${port}/${way}${path}`
    if (way === 'held') return hold(`${base}/get_devices`)
    const platform = new Platform({ url: base, timeoutMs: 60_000 })
    return platform.get('get_devices', 'x').finally(() => platform.close())
  }
  await asked('/few') // warms the code up, as an hour of service does
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let most = 0
  const before = process.memoryUsage.rss()
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 2)
  const [started, cpu] = [performance.now(), process.cpuUsage()]
  const kept = await asked('')
  const { user, system } = process.cpuUsage(cpu)
  const ms = performance.now() - started
  most = Math.max(most, process.memoryUsage.rss())
  await new Promise((turn) => setTimeout(turn, 20)) // a stall is seen when it is over
  clearInterval(watch)
  if (!Array.isArray(kept)) throw new Error('no list')
  return { ms, cpuMs: (user + system) / 1000, stallMs: delay.max / 1e6, grownMb: (most - before) / 1e6 }
}

const heard = async (child: ChildProcess): Promise<unknown> => (await once(child, 'message'))[0]
const again = (...args: (string | number)[]): ChildProcess => fork(fileURLToPath(import.meta.url), args.map(String))

async function measure(devices: number): Promise<void> {
  const server = again('serve', devices)
  const { port, bytes } = (await heard(server)) as { port: number; bytes: number }
  console.log(`${devices} devices, ${(bytes / 1e6).toFixed(1)} MB`)
  for (const way of ['held', 'projected', 'packed'] as const) {
    const runs: Measured[] = []
    for (let run = 0; run < 5; run++) runs.push((await heard(again('receive', way, port))) as Measured)
    const median = (of: (one: Measured) => number) =>
      runs
        .map(of)
        .toSorted((a, b) => a - b)[2]!
        .toFixed(0)
        .padStart(5)
    console.log(
      `${way.padEnd(10)} ${median((one) => one.ms)} ms, processor ${median((one) => one.cpuMs)} ms, ` +
        `longest stall ${median((one) => one.stallMs)} ms, process grown by ${median((one) => one.grownMb)} MB`,
    )
  }
  server.kill()
}

const [role, ...rest] = process.argv.slice(2)
if (role === 'serve') await serve(Number(rest[0]))
else if (role === 'receive') process.send?.(await receive(rest[0] as Way, Number(rest[1])))
else await measure(Number(role ?? 10_000))
