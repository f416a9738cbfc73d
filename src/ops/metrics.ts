/** Metrics in Prometheus format. No label grows with accounts, devices or keys. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { ByteBudget } from '../lib/byte-budget.js'
import type { BreakerState } from '../lib/circuit-breaker.js'
import { actions } from '../platform/actions.js'
import type { CallReport } from '../platform/client.js'
import type { StoreReport } from '../store/instrumented.js'
import type { Store } from '../store/store.js'
import { Callers } from './callers.js'
import { knownValues } from './unknown-values.js'

/** Which of the two platforms a process may call. */
export type Realm = 'platform' | 'sandbox'

/** The outcome of one request; `route` is the pattern of its route, `none` if there is none. */
interface RequestReport {
  method: string
  route: string
  /** `rehearsed`: an error that the client requested. */
  status: number | 'rehearsed'
  ms: number
}

const breakerStates: readonly BreakerState[] = ['closed', 'half_open', 'open']

/** All other methods share the label `other`: no path supports them. */
const labelledMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Seconds; the stated target of 300 ms is a boundary. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.3, 0.5, 1, 2.5, 5, 10, 30]
const callBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const storeBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]

/** The values of a metric by those of its labels. */
type Series = [labels: Record<string, string>, value: number][]

/** By the values of one label. */
const by = (label: string, counts: Record<string, number>): Series =>
  Object.entries(counts).map(([value, count]) => [{ [label]: value }, count])

/** What is read when the metrics are scraped: `inc` takes 0.7 µs, and some of it counts every request. */
interface Watched {
  platforms: ReadonlyMap<Realm, { breakerState: BreakerState }>
  deviceCache: { bytes: number; lookups: { hit: number; miss: number } }
  worker: { usedBytes: number }
  accounts: { size: number }
  counters: { localWindows: number; counts: { shared: number; local: number } }
  store: Pick<Store, 'up'>
  budget: ByteBudget
}

export class Metrics {
  readonly callers = new Callers()
  readonly #registry = new Registry()

  readonly #requests = this.#counter('gateway_requests_total', 'Requests', 'method', 'route', 'status')
  readonly #requestLatency = this.#histogram('gateway_request_seconds', 'Latency of requests', requestBuckets, 'route')
  readonly #limited = this.#counter('gateway_limiter_limited_total', 'Requests that exceeded their limit (429)')
  readonly #errors = this.#counter('gateway_internal_errors_total', 'Responses with status 500')
  readonly shed = this.#counter('gateway_shed_total', 'Requests rejected because the process is overloaded')
  readonly cuts = this.#counter('gateway_connections_cut_total', 'Connections closed early', 'reason')
  readonly logDropped = this.#counter('gateway_log_dropped_bytes_total', 'Bytes of dropped log lines')

  readonly #calls = this.#counter('gateway_platform_calls_total', 'Calls to the platform', 'realm', 'action', 'outcome')
  readonly #callLatency = this.#histogram(
    'gateway_platform_call_seconds',
    'Latency of calls to the platform',
    callBuckets,
    'realm',
    'action',
  )
  readonly skipped = this.#counter('gateway_rows_skipped_total', 'Platform rows skipped as unreadable', 'action')
  readonly unknownValues = this.#counter(
    'gateway_unknown_words_total',
    'Unknown values in platform rows',
    'action',
    'field',
  )

  readonly addresses = this.#counter('gateway_address_lookups_total', 'Lookups of addresses', 'outcome')
  readonly corrected = this.#counter(
    'gateway_corrected_lists_total',
    'Device lists whose Unix times were the wall clock of the account and have been corrected',
  )

  readonly evictions = this.#counter('gateway_positions_evictions_total', 'Evictions from the device cache')
  readonly #storeCalls = this.#counter('gateway_store_calls_total', 'Calls to the key store', 'verb', 'outcome')
  readonly #storeLatency = this.#histogram(
    'gateway_store_call_seconds',
    'Latency of calls to the key store',
    storeBuckets,
    'verb',
  )

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    // Gauges with the suffix of a counter; promtool rejects them. The same numbers by type remain.
    for (const what of ['handles', 'requests', 'resources'])
      this.#registry.removeSingleMetric(`nodejs_active_${what}_total`)
    this.#countExhaustedFiles()
    // For alerts on the first finding: Prometheus sees no increase in a series that begins with it.
    for (const action of Object.keys(actions)) this.skipped.inc({ action }, 0)
    for (const [action, { field }] of knownValues) this.unknownValues.inc({ action, field }, 0)
  }

  readonly observeRequest = ({ method, route, status, ms }: RequestReport): void => {
    const label = route === 'none' ? 'none' : labelledMethods.has(method) ? method : 'other'
    this.#requests.inc({ method: label, route, status: String(status) })
    this.#requestLatency.observe({ route }, ms / 1_000)
    if (status === 429) this.#limited.inc()
    if (status === 500) this.#errors.inc()
  }

  readonly observeCall = (realm: Realm, { action, outcome, ms }: CallReport): void => {
    this.#calls.inc({ realm, action, outcome })
    this.#callLatency.observe({ realm, action }, ms / 1_000)
  }

  readonly observeStoreCall = ({ verb, outcome, ms }: StoreReport): void => {
    this.#storeCalls.inc({ verb, outcome })
    this.#storeLatency.observe({ verb }, ms / 1_000)
  }

  /** Adds the metrics that are read when they are scraped. */
  watch({ platforms, deviceCache, worker, accounts, counters, store, budget }: Watched) {
    const gauge = (name: string, help: string, value: () => number): void =>
      this.#read(Gauge, name, help, () => [[{}, value()]])
    const states = (): Series =>
      [...platforms].flatMap(([realm, { breakerState }]) =>
        breakerStates.map((state): Series[number] => [{ realm, state }, Number(state === breakerState)]),
      )
    this.#read(Gauge, 'gateway_breaker_state', '1 for the current state of the breaker', states, 'realm', 'state')
    const lookups = () => by('result', deviceCache.lookups)
    this.#read(Counter, 'gateway_positions_lookups_total', 'Lookups in the device cache', lookups, 'result')
    const counts = () => by('counter', counters.counts)
    this.#read(Counter, 'gateway_limiter_counts_total', 'Requests counted by the limiter', counts, 'counter')
    gauge('gateway_positions_bytes', 'Bytes of the device cache', () => deviceCache.bytes)
    gauge('gateway_worker_bytes', 'Bytes of the responses that the worker is reading', () => worker.usedBytes)
    const entries = () => by('of', { accounts: accounts.size, rate_limit_windows: counters.localWindows })
    const kinds = 'Entries of what grows with requests; each kind has a maximum'
    this.#read(Gauge, 'gateway_entries', kinds, entries, 'of')
    gauge('gateway_store_up', '1 while the key store replies', () => Number(store.up()))
    gauge('gateway_in_flight_bytes', 'Bytes of responses in flight', () => budget.usedBytes)
    gauge('gateway_in_flight_max_bytes', 'Maximum bytes of responses in flight', () => budget.maxBytes)
    const rejected = 'Responses rejected for the bytes in flight'
    this.#read(Counter, 'gateway_in_flight_rejected_total', rejected, () => [[{}, budget.rejected]])
  }

  async text(): Promise<{ type: string; body: string }> {
    return { type: this.#registry.contentType, body: await this.#registry.metrics() }
  }

  /** Without a free file descriptor prom-client cannot count the open ones, and repeats its last count: then it is the maximum. */
  #countExhaustedFiles(): void {
    const [open, max] = ['process_open_fds', 'process_max_fds'].map((name) => this.#registry.getSingleMetric(name))
    // Only Linux has both.
    if (!(open instanceof Gauge && max)) return
    const { collect } = open as unknown as { collect: () => void }
    const count = async (): Promise<void> => {
      open.set((await max.get()).values[0]?.value ?? 0)
      collect.call(open)
    }
    Object.assign(open, { collect: count })
  }

  #counter<T extends string>(name: string, help: string, ...labelNames: T[]): Counter<T> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] })
  }

  /** A metric that is read when it is scraped. */
  #read(Kind: typeof Counter | typeof Gauge, name: string, help: string, read: () => Series, ...labels: string[]) {
    const collect = (): void => {
      metric.reset()
      for (const [of, value] of read()) metric.inc(of, value)
    }
    const metric: Counter | Gauge = new Kind({ name, help, labelNames: labels, registers: [this.#registry], collect })
  }

  #histogram<T extends string>(name: string, help: string, buckets: number[], ...labelNames: T[]): Histogram<T> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] })
  }
}
