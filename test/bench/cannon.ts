/** Load by autocannon, for machines without wrk; runs in this process. Knows no server. */
import { createRequire } from 'node:module'
import type { Load, Target } from './load.js'

interface Client {
  setRequests(requests: { headers: Record<string, string> }[]): void
}

interface Result {
  requests: { average: number; total: number }
  latency: { p50: number; p99: number }
  errors: number
  non2xx: number
}

/** The part of autocannon that is used; it comes without types. */
type Autocannon = (options: {
  url: string
  connections: number
  duration: number
  setupClient?: (client: Client) => void
}) => Promise<Result>

const autocannon = createRequire(import.meta.url)('autocannon') as Autocannon

/** Each connection takes turns with credentials of its own. @throws when any answer was an error. */
export async function cannon(
  { url, connections = 64 }: Target,
  credentials: readonly string[],
  seconds: number,
): Promise<Load> {
  let client = 0
  const setupClient = (one: Client): void => {
    const own = credentials.filter((_, i) => i % connections === client % credentials.length)
    one.setRequests(own.map((credential) => ({ headers: { authorization: `Bearer ${credential}` } })))
    client += 1
  }
  const { requests, latency, errors, non2xx } = await autocannon({
    url,
    connections,
    duration: Math.ceil(seconds),
    ...(credentials.length > 0 && { setupClient }),
  })
  if (errors > 0 || non2xx > 0) throw new Error(`${url}: ${errors} errors, ${non2xx} refusals`)
  return { perSecond: requests.average, requests: requests.total, p50: latency.p50, p99: latency.p99 }
}
