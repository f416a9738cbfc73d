/** Load on one address, bounded in time, and what it came to. Knows no server. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { has } from './parts.js'

const run = promisify(execFile)
const hasWrk = has('wrk')
const patient = ['--latency', '--timeout', '30s']
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
export async function flood({ url, credential, connections = 64 }: Target, seconds: number): Promise<Load> {
  const header = credential === undefined ? [] : ['-H', `Authorization: Bearer ${credential}`]
  const size = ['-c', String(connections), '-d', String(seconds)]
  if (hasWrk) return ofWrk((await run('wrk', ['-t1', ...size, ...patient, ...header, url])).stdout, url)
  const program = fileURLToPath(new URL('../../../../node_modules/autocannon/autocannon.js', import.meta.url))
  const { requests, latency, errors, non2xx } = JSON.parse(
    (await run(process.execPath, [program, '-j', ...size, ...header.map((text) => text.replace(': ', '=')), url]))
      .stdout,
  )
  if (errors > 0 || non2xx > 0) throw new Error(`${url}: ${errors} errors, ${non2xx} refusals`)
  return { perSecond: requests.average, requests: requests.total, p50: latency.p50, p99: latency.p99 }
}

/** The same with another credential for each request, in turn; needs wrk. */
export async function rotate(
  { url, connections = 64 }: Target,
  credentials: string[],
  seconds: number,
  dir: string,
): Promise<Load> {
  if (!hasWrk) throw new Error('wrk is missing: autocannon cannot take turns with credentials')
  const script = join(dir, 'rotate.lua')
  const list = credentials.map((credential) => `"Bearer ${credential}"`).join(',')
  writeFileSync(
    script,
    `local all, i = {${list}}, 0\nrequest = function() i = i % #all + 1 wrk.headers["Authorization"] = all[i] return wrk.format() end\n`,
  )
  return ofWrk(
    (await run('wrk', ['-t1', '-c', String(connections), '-d', String(seconds), ...patient, '-s', script, url])).stdout,
    url,
  )
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

/** So many requests a second whatever the answers take; latency counts from when each should have begun. */
export async function pace(targets: readonly Target[], perSecond: number, seconds: number): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const took: number[] = []
  const pending: Promise<void>[] = []
  const started = performance.now()
  for (let sent = 0; sent < perSecond * seconds; sent += 1) {
    const due = started + (sent * 1000) / perSecond
    const early = due - performance.now()
    if (early > 1) await pause(early)
    const { url, credential = '' } = targets[sent % targets.length] as Target
    pending.push(asked(url, credential, agent).then(() => void took.push(performance.now() - due)))
  }
  await Promise.all(pending)
  agent.destroy()
  took.sort((a, b) => a - b)
  return {
    perSecond,
    requests: took.length,
    p50: took[Math.floor(took.length / 2)] ?? 0,
    p99: took[Math.floor(took.length * 0.99)] ?? 0,
  }
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
