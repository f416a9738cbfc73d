/** Load on one address for a limited time, and the figures of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Bench, bodyOf } from './bench.js'
import type { Server } from './processes.js'

/** Latencies in milliseconds. */
export interface Load {
  perSecond: number
  requests: number
  p50: number
  p99: number
  /** Bytes of all responses. */
  read: number
}

export interface Contestant {
  name: string
  /** Several share the connections. */
  servers: readonly Server[]
  path?: string
  /** With several, each request has the next one. */
  credentials?: readonly string[]
  headers?: Readonly<Record<string, string>>
}

/** The response of the first contestant. */
export const responseOf = ([first]: readonly Contestant[]): Promise<string> =>
  bodyOf(`${first?.servers[0]?.url}${first?.path}`, first?.credentials?.[0])

/** As many requests as the connections can send, by wrk. @throws when a response is not 2xx. */
export async function flood({ processes, seconds, connections = 64 }: Bench, contestant: Contestant): Promise<Load> {
  const { servers, path = '', credentials = [], headers = {} } = contestant
  const script = join(processes.folder('lua'), 'script.lua')
  writeFileSync(script, scriptOf(credentials))
  const options = ['-t1', '-c', String(connections / servers.length), '-d', String(seconds), '--timeout', '30s']
  for (const [name, value] of Object.entries(headers)) options.push('-H', `${name}: ${value}`)
  const run = async ({ url }: Server): Promise<Load & { failed: number }> => {
    const output = await processes.run(['wrk', ...options, '-s', script, url + path])
    return JSON.parse(output.slice(output.indexOf('{')))
  }
  const loads = await Promise.all(servers.map(run))
  const sum = (name: 'perSecond' | 'requests' | 'read' | 'failed') => loads.reduce((sum, load) => sum + load[name], 0)
  const most = (name: 'p50' | 'p99') => Math.max(...loads.map((load) => load[name]))
  if (sum('failed') > 0) throw new Error(`${contestant.name}: ${sum('failed')} requests failed`)
  const [p50, p99] = [most('p50'), most('p99')]
  return { perSecond: sum('perSecond'), requests: sum('requests'), read: sum('read'), p50, p99 }
}

const rotation = 'function request() i = i % #all + 1 wrk.headers["Authorization"] = all[i] return wrk.format() end'

/** A script of wrk that takes the next of several credentials for each request, and prints a `Load`. */
const scriptOf = (credentials: readonly string[]): string => `
local all, i = {${credentials.map((credential) => `"Bearer ${credential}"`).join(',')}}, 0
wrk.headers["Authorization"] = all[1]
${credentials.length > 1 ? rotation : ''}
function done(sum, latency)
  local e, p50, p99 = sum.errors, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3
  local failed = e.connect + e.read + e.write + e.timeout + e.status
  local load = '{"perSecond":%f,"requests":%d,"read":%d,"p50":%f,"p99":%f,"failed":%d}'
  print(load:format(sum.requests / sum.duration * 1e6, sum.requests, sum.bytes, p50, p99, failed))
end
`

export type Act = (index: number) => Promise<unknown>

/** So many acts, four at a time. */
export async function actAll(count: number, act: Act): Promise<void> {
  const everyFourth = async (from: number): Promise<void> => {
    for (let index = from; index < count; index += 4) await act(index)
  }
  await Promise.all([0, 1, 2, 3].map(everyFourth))
}

/** Acts at a fixed rate, whatever each act takes; latency counts from when an act is due. @throws the first error of an act. */
export async function paced(act: Act, perSecond: number, seconds: number) {
  const took: number[] = []
  const pending: Promise<unknown>[] = []
  const started = performance.now()
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const due = started + (index * 1000) / perSecond
    const early = due - performance.now()
    if (early > 1) await pause(early)
    const from = Math.min(due, performance.now()) // a timer may fire a little early
    const done = act(index).then(() => took.push(performance.now() - from))
    done.catch(() => undefined) // thrown below
    pending.push(done)
  }
  await Promise.all(pending)
  took.sort((a, b) => a - b)
  const at = (part: number): number => took[Math.floor(took.length * part)] ?? 0
  return { requests: took.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
