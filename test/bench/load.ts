/** Load on one address for a limited time, and the figures of it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Processes } from './processes.js'

/** Latencies in milliseconds. */
export interface Load {
  perSecond: number
  requests: number
  p50: number
  p99: number
  /** Of a whole response, where that is known. */
  bytes?: number
}

export interface PacedLoad extends Load {
  p95: number
}

interface Target {
  url: string
  /** With several, each request has the next one. */
  credentials?: readonly string[]
  headers?: Readonly<Record<string, string>>
  /** 64 unless given. */
  connections?: number
}

/** As many requests as the connections can send, by wrk. @throws when a response is not 2xx. */
export async function flood(processes: Processes, target: Target, seconds: number): Promise<Load> {
  const { url, credentials = [], headers = {}, connections = 64 } = target
  const size = ['-t1', '-c', String(connections), '-d', String(seconds), '--latency', '--timeout', '30s']
  for (const [name, value] of Object.entries(headers)) size.push('-H', `${name}: ${value}`)
  const [credential] = credentials
  if (credentials.length > 1) size.push('-s', rotation(processes.folder('lua'), credentials))
  else if (credential !== undefined) size.push('-H', `Authorization: Bearer ${credential}`)
  const output = await processes.run(['wrk', ...size, url])
  const failure = /(Non-2xx|Socket errors).*/.exec(output)
  if (failure) throw new Error(`${url}: ${failure[0]}`)
  const ms = (percent: number): number => {
    const [, value, unit = ''] = new RegExp(`${percent}%\\s+([\\d.]+)(us|ms|s)`).exec(output) ?? []
    return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN)
  }
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1])
  const [perSecond, requests] = [number(/Requests\/sec:\s+([\d.]+)/), number(/(\d+) requests in/)]
  const [, read, unit = ''] = /([\d.]+)([KMG]?B) read/.exec(output) ?? []
  const bytes = (Number(read) * 1024 ** ['B', 'KB', 'MB', 'GB'].indexOf(unit)) / requests
  return { perSecond, requests, p50: ms(50), p99: ms(99), bytes }
}

/** A script of wrk that takes the next of the credentials for each request. */
function rotation(folder: string, credentials: readonly string[]): string {
  const script = join(folder, 'rotate.lua')
  const list = credentials.map((credential) => `"Bearer ${credential}"`).join(',')
  const next = 'i = i % #all + 1 wrk.headers["Authorization"] = all[i] return wrk.format()'
  writeFileSync(script, `local all, i = {${list}}, 0\nrequest = function() ${next} end\n`)
  return script
}

type Act = (index: number) => Promise<unknown>

/** Acts at a fixed rate, whatever each act takes; latency counts from when an act is due. @throws the first error of an act. */
export async function paced(act: Act, perSecond: number, seconds: number): Promise<PacedLoad> {
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
  return { perSecond, requests: took.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
