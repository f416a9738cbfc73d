/** Load on one address, bounded in time, and what it came to. Knows no server. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { cannon } from './cannon.js'
import { has } from './parts.js'

const hasWrk = has('wrk')
export const loader = hasWrk ? 'wrk' : 'autocannon'

/** Latencies in milliseconds. */
export interface Load {
  perSecond: number
  requests: number
  p50: number
  p99: number
}

export interface Target {
  url: string
  credential?: string
  connections?: number
}

/** As many requests as the connections manage. @throws when any answer was an error. */
export function flood(target: Target, seconds: number): Promise<Load> {
  const { credential } = target
  if (!hasWrk) return cannon(target, credential === undefined ? [] : [credential], seconds)
  return wrk(target, credential === undefined ? [] : ['-H', `Authorization: Bearer ${credential}`], seconds)
}

/** The same with another credential for each request, in turn; `dir` is for files. */
export function rotate(target: Target, credentials: string[], seconds: number, dir: string): Promise<Load> {
  if (!hasWrk) return cannon(target, credentials, seconds)
  const script = join(dir, 'rotate.lua')
  const list = credentials.map((credential) => `"Bearer ${credential}"`).join(',')
  writeFileSync(
    script,
    `local all, i = {${list}}, 0\nrequest = function() i = i % #all + 1 wrk.headers["Authorization"] = all[i] return wrk.format() end\n`,
  )
  return wrk(target, ['-s', script], seconds)
}

async function wrk({ url, connections = 64 }: Target, options: string[], seconds: number): Promise<Load> {
  const size = ['-t1', '-c', String(connections), '-d', String(Math.ceil(seconds)), '--latency', '--timeout', '30s']
  const running = promisify(execFile)('wrk', [...size, ...options, url])
  // It counts in whole seconds, but when interrupted it tells what it has got.
  const early = Number.isInteger(seconds) ? undefined : setTimeout(() => running.child.kill('SIGINT'), seconds * 1_000)
  const { stdout } = await running.finally(() => clearTimeout(early))
  return ofWrk(stdout, url)
}

function ofWrk(text: string, url: string): Load {
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`${url}: ${/(Non-2xx|Socket errors).*/.exec(text)?.[0]}`)
  const ms = (percent: number): number => {
    const [, value, unit = ''] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(text) ?? []
    return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN)
  }
  const number = (pattern: RegExp): number => Number(pattern.exec(text)?.[1])
  return {
    perSecond: number(/Requests\/sec:\s+([\d.]+)/),
    requests: number(/(\d+) requests in/),
    p50: ms(50),
    p99: ms(99),
  }
}

/** So many acts a second whatever each takes; latency counts from when each should have begun. @throws what an act throws. */
export async function paced(act: (sent: number) => Promise<void>, perSecond: number, seconds: number): Promise<Load> {
  const took: number[] = []
  const pending: Promise<void>[] = []
  let failure: unknown
  const started = performance.now()
  for (let sent = 0; sent < perSecond * seconds && failure === undefined; sent += 1) {
    const due = started + (sent * 1000) / perSecond
    const early = due - performance.now()
    if (early > 1) await pause(early)
    const from = Math.min(due, performance.now()) // a timer may ring a little early
    const done = act(sent).then(() => void took.push(performance.now() - from))
    pending.push(
      done.catch((error) => {
        failure ??= error
      }),
    )
  }
  await Promise.all(pending)
  if (failure !== undefined) throw failure
  took.sort((a, b) => a - b)
  return {
    perSecond,
    requests: took.length,
    p50: took[Math.floor(took.length / 2)] ?? 0,
    p99: took[Math.floor(took.length * 0.99)] ?? 0,
  }
}

/** `paced` with reads that must be answered 200, the targets in turn. */
export async function pace(targets: readonly Target[], perSecond: number, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const act = (sent: number): Promise<void> => {
    const { url, credential = '' } = targets[sent % targets.length] as Target
    return asked(url, credential, agent)
  }
  return paced(act, perSecond, seconds).finally(() => agent.destroy())
}

/** Resolves when the whole answer has come. */
function asked(url: string, credential: string, agent: Agent): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${credential}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`${url}: ${response.statusCode}`))
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
}
