/** Whether the platform is there, speaks as expected, is quick, and agrees on the time. */
import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.js'
import { readDeviceList } from '../../devices/device-list.js'
import { ByteBudget } from '../../lib/byte-budget.js'
import type { Action } from '../../platform/actions.js'
import { readDocument } from '../../platform/body.js'
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from '../../platform/errors.js'
import { HttpClient } from '../../platform/http-client.js'
import { type Finding, fail, ok, warn } from './finding.js'

/** An answer slower than this leaves little of the 300 ms that callers are promised. */
const slowMs = 1_000
/** A device counts as fresh for five minutes; clocks further apart than that turn states around. */
const skewWarnS = 5
const skewFailS = 300

/** What an account is asked for when its hash is given; history and services of one device need a device. */
const actions: Action[] = [
  ...(['get_user_data', 'edit_setup_data', 'get_devices', 'get_geofences', 'get_events'] as const),
  ...(['get_alerts', 'services', 'get_user_drivers'] as const),
]

/** @param hash of an account, to try every action; without it only a made-up one is shown, which must be refused. */
export async function platformFindings(config: Config, hash: string | undefined): Promise<Finding[]> {
  const { platformUrl: url, platformTimeoutMs: timeoutMs } = config
  if (url === undefined) return [ok('platform', 'the sandbox in the process')]
  const platform = new CheckedPlatform(url, timeoutMs)
  try {
    const found = [await shape(platform), await clock(url, timeoutMs)]
    if (new URL(url).protocol === 'http:') found.push(warn('platform TLS', 'http: hashes travel unencrypted'))
    if (hash === undefined) found.push(ok('platform actions', 'not tried; set PLATFORM_HASH to an account’s hash'))
    else for (const action of actions) found.push(await tried(platform, action, hash))
    return found
  } finally {
    await platform.close()
  }
}

/** The platform without circuit breaker and queue: each request is sent, and shows how the platform responds. */
class CheckedPlatform {
  readonly #url: string
  readonly #timeoutMs: number
  readonly #client: HttpClient
  readonly #budget = new ByteBudget({ maxBytes: Number.POSITIVE_INFINITY, maxBytesPerOwner: Number.POSITIVE_INFINITY })

  constructor(url: string, timeoutMs: number) {
    this.#url = url
    this.#timeoutMs = timeoutMs
    this.#client = new HttpClient({ url, connections: 1, connectTimeoutMs: timeoutMs })
  }

  /** Throws as `Platform.get`. */
  async get(action: Action, hash: string): Promise<void> {
    const signal = AbortSignal.timeout(this.#timeoutMs)
    const reservation = this.#budget.open(action)
    if (action === 'get_devices') {
      const job = { action, url: this.#url, hash, owner: action, params: { id: undefined, now: Date.now() } }
      await readDeviceList(job, { client: this.#client, signal, reservation })
      return
    }
    await this.#client.send({ action, hash, query: {} }, signal, (body) => readDocument(action, body, reservation))
  }

  close(): Promise<void> {
    return this.#client.close()
  }
}

/** A refusal of a hash that nobody has is what only a working platform answers. */
async function shape(platform: CheckedPlatform): Promise<Finding> {
  const made = `$2y$10$${randomBytes(40).toString('hex').slice(0, 53)}`
  const started = performance.now()
  const failure = await platform.get('get_user_data', made).catch((error: unknown) => error)
  const ms = Math.round(performance.now() - started)
  if (failure instanceof PlatformRefused || failure instanceof PlatformForbidden) {
    return ms > slowMs
      ? warn('platform', `answers as expected, but took ${ms} ms`)
      : ok('platform', `answers as expected in ${ms} ms`)
  }
  if (failure instanceof PlatformUnavailable) return fail('platform', explained(failure))
  return fail('platform', 'let a made-up hash in: this is no tracking platform, or it guards nothing')
}

const hints: Partial<Record<PlatformUnavailable['reason'], string>> = {
  timeout: 'no answer in time',
  connection: 'cannot be reached',
  missing_action: 'does not know get_user_data: is PLATFORM_URL its API base?',
  redirect: 'sends elsewhere: is PLATFORM_URL its API base, with https?',
  html: 'answers a page, not data: is PLATFORM_URL its API base?',
}

function explained(failure: PlatformUnavailable): string {
  const { cause } = failure
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? ` (${cause.code})` : ''
  return `${hints[failure.reason] ?? `answers unusably: ${failure.reason}`}${code}`
}

async function clock(url: string, timeoutMs: number): Promise<Finding> {
  const asked = Date.now()
  const date = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    .then(({ headers }) => Date.parse(headers.get('date') ?? ''))
    .catch(() => Number.NaN)
  if (Number.isNaN(date)) return warn('clock', 'the platform does not tell the time')
  // The header has whole seconds, cut off.
  const skewS = Math.round(Math.abs(date + 500 - (asked + Date.now()) / 2) / 1_000)
  const text = `${skewS} s apart from the platform’s`
  if (skewS > skewFailS) return fail('clock', text)
  return skewS > skewWarnS ? warn('clock', text) : ok('clock', text)
}

async function tried(platform: CheckedPlatform, action: Action, hash: string): Promise<Finding> {
  const name = `platform ${action}`
  const started = performance.now()
  const failure = await platform.get(action, hash).then(
    () => undefined,
    (error: unknown) => error,
  )
  const ms = Math.round(performance.now() - started)
  if (failure === undefined) return ms > slowMs ? warn(name, `took ${ms} ms`) : ok(name, `${ms} ms`)
  if (failure instanceof PlatformRefused) return fail(name, 'PLATFORM_HASH is refused')
  if (failure instanceof PlatformForbidden) return warn(name, 'the account lacks the permission')
  if (failure instanceof PlatformUnavailable) {
    if (failure.reason === 'missing_action') return warn(name, 'unknown to this platform; it may be an old one')
    return fail(name, explained(failure))
  }
  throw failure
}
