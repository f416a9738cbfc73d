/** What an operator watches, in Prometheus format; the only file that imports prom-client. No label grows with accounts, devices or keys. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, type Metric, Registry } from 'prom-client'
import type { Cached } from '../devices/device-cache.js'
import type { BreakerState } from '../lib/circuit-breaker.js'
import type { CallReport } from '../platform/client.js'
import type { StoreReport } from '../store/instrumented.js'
import { Tally } from './tally.js'

/** Which of the two platforms a process may talk to. */
export type Realm = 'platform' | 'sandbox'

/** How one request ended; `route` is its pattern, `none` where there is none. */
export interface Answered {
  method: string
  route: string
  status: number
  ms: number
}

const breakerStates: readonly BreakerState[] = ['closed', 'half_open', 'open']

/** Seconds; the stated target of 300 ms is a boundary. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 0.5, 1, 2.5, 5, 10, 30]
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const storeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]

export class Metrics {
  readonly #registry = new Registry()
  readonly #requests = this.#counter('gateway_requests_total', 'Requests by route and status', [
    'method',
    'route',
    'status',
  ])
  readonly #answers = this.#tally('gateway_request_seconds', 'Latency of requests', 'route', requestBuckets)
  readonly #shed = this.#counter('gateway_shed_total', 'Requests turned away because the process was overloaded', [])
  readonly #calls = this.#counter('gateway_platform_calls_total', 'Calls to the platform by action and outcome', [
    'realm',
    'action',
    'outcome',
  ])
  readonly #callLatency = this.#histogram(
    'gateway_platform_call_seconds',
    'Latency of calls to the platform',
    ['realm', 'action'],
    callBuckets,
  )
  readonly #breaker = this.#gauge('gateway_breaker_state', '1 for the state the breaker is in', ['realm', 'state'])
  readonly #lookups = this.#counter('gateway_positions_lookups_total', 'Looks into the memory of last positions', [
    'result',
  ])
  readonly #evictions = this.#counter('gateway_positions_evictions_total', 'Entries that had to make room', [])
  readonly #counts = this.#counter('gateway_limiter_counts_total', 'Requests counted by the limiter, by where', [
    'counter',
  ])
  readonly #limited = this.#counter('gateway_limiter_limited_total', 'Requests that were over their limit (429)', [])
  readonly #store = this.#counter('gateway_store_calls_total', 'Calls to the key store by verb and outcome', [
    'verb',
    'outcome',
  ])
  readonly #stored = this.#tally(
    'gateway_store_call_seconds',
    'Latency of calls to the key store',
    'verb',
    storeBuckets,
  )
  readonly #skipped = this.#counter('gateway_rows_skipped_total', 'Platform rows left out as unreadable', ['action'])
  readonly #words = this.#counter('gateway_unknown_words_total', 'Platform words the gateway does not know', [
    'action',
    'field',
  ])

  /** What happens with every request is noted here and told when somebody asks. */
  #pending = { hit: 0, miss: 0, shared: 0, local: 0 }

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
  }

  readonly answered = ({ method, route, status, ms }: Answered): void => {
    this.#answers.note(route, `${route === 'none' ? 'none' : method} ${status}`, ms / 1_000)
    if (status === 429) this.#limited.inc()
  }

  readonly shed = (): void => this.#shed.inc()

  readonly called = (realm: Realm, { action, outcome, ms }: CallReport): void => {
    this.#calls.inc({ realm, action, outcome })
    this.#callLatency.observe({ realm, action }, ms / 1_000)
  }

  readonly breaker = (realm: Realm, now: BreakerState): void => {
    for (const state of breakerStates) this.#breaker.set({ realm, state }, state === now ? 1 : 0)
  }

  readonly looked = (isHit: boolean): void => {
    if (isHit) this.#pending.hit += 1
    else this.#pending.miss += 1
  }

  readonly evicted = (): void => this.#evictions.inc()

  readonly counted = (counter: 'shared' | 'local'): void => {
    this.#pending[counter] += 1
  }

  readonly stored = ({ verb, outcome, ms }: StoreReport): void => this.#stored.note(verb, outcome, ms / 1_000)

  readonly skipped = (action: string, rows: number): void => this.#skipped.inc({ action }, rows)

  readonly unknownWord = (action: string, field: string): void => this.#words.inc({ action, field })

  /** What is to be read at the moment somebody asks. */
  watch(positions: Cached, isStoreUp: () => boolean): void {
    const read = (name: string, help: string, value: () => number): void => {
      const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(value()) })
    }
    read('gateway_positions_bytes', 'Memory of last positions', () => positions.bytes)
    read('gateway_store_up', '1 while the key store answers', () => Number(isStoreUp()))
  }

  /** The text a scrape gets, and its media type. */
  async text(): Promise<{ type: string; body: string }> {
    const { hit, miss, shared, local } = this.#pending
    this.#pending = { hit: 0, miss: 0, shared: 0, local: 0 }
    this.#lookups.inc({ result: 'hit' }, hit)
    this.#lookups.inc({ result: 'miss' }, miss)
    this.#counts.inc({ counter: 'shared' }, shared)
    this.#counts.inc({ counter: 'local' }, local)
    for (const { name: verb, outcome, times } of this.#stored.takeOutcomes()) this.#store.inc({ verb, outcome }, times)
    for (const { name: route, outcome, times } of this.#answers.takeOutcomes()) {
      const [method = '', status = ''] = outcome.split(' ')
      this.#requests.inc({ method, route, status }, times)
    }
    return { type: this.#registry.contentType, body: await this.#registry.metrics() }
  }

  #counter<T extends string>(name: string, help: string, labelNames: T[]): Counter<T> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  #gauge<T extends string>(name: string, help: string, labelNames: T[]): Gauge<T> {
    return new Gauge({ name, help, labelNames, registers: [this.#registry] })
  }

  #histogram<T extends string>(name: string, help: string, labelNames: T[], buckets: number[]): Histogram<T> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] })
  }

  /** A histogram of durations that are noted with every request: a `Histogram` would take its labels apart each time. */
  #tally(name: string, help: string, label: string, buckets: number[]): Tally {
    const tally = new Tally(buckets)
    const values = () =>
      tally.histogram().map(({ suffix, name: labelled, le, value }) => ({
        metricName: name + suffix,
        labels: le === undefined ? { [label]: labelled } : { le, [label]: labelled },
        value,
      }))
    const metric = {
      name,
      help,
      type: 'histogram',
      get: async () => ({ name, help, type: 'histogram', values: values() }),
    }
    // All that a registry asks of a metric when it is scraped.
    this.#registry.registerMetric(metric as unknown as Metric)
    return tally
  }
}
