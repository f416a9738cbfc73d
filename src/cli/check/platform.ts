/** Checks that the platform is reachable, responds as expected, is fast, and agrees on the time. */
import { randomBytes } from 'node:crypto'
import type { Config } from '../../config.js'
import { readDeviceList } from '../../devices/device-list.js'
import { isWallClock } from '../../devices/wall-clock.js'
import { ByteBudget } from '../../lib/byte-budget.js'
import type { Action } from '../../platform/actions.js'
import { requestAddress } from '../../platform/addresses.js'
import { readDocument } from '../../platform/body.js'
import { loginRedirect, PlatformForbidden, PlatformRefused, PlatformUnavailable } from '../../platform/errors.js'
import { HttpClient } from '../../platform/http-client.js'
import { read } from '../../platform/shape.js'
import { wireSetup } from '../../platform/wire.js'
import type { FleetColumns } from '../../platform/worker-messages.js'
import { toZone } from '../../resources/zone.js'
import { type Finding, fail, ok, warn } from './finding.js'

/** With a slower platform, only responses from memory meet the target for callers, a p95 of 300 ms. */
const slowMs = 1_000
/** A device counts as online for five minutes after its last fix: a greater clock skew makes its status wrong. */
const skewWarnS = 5
const skewFailS = 300

/** Tried with an account's hash. History and the services of one device would need a device. */
const actions: Action[] = [
  ...(['get_user_data', 'edit_setup_data', 'get_devices', 'get_geofences', 'get_events'] as const),
  ...(['get_alerts', 'services', 'get_user_drivers', 'call_actions/event_types'] as const),
]

const untried = 'not tried; set PLATFORM_HASH to an account’s hash'

/** @param hash of an account; without it, only an invented hash is sent, which must be refused. */
export async function platformFindings(config: Config, hash: string | undefined): Promise<Finding[]> {
  const { platformUrl: url, platformTimeoutMs: timeoutMs } = config
  if (url === undefined) return [ok('platform', 'the sandbox in the process')]
  const platform = openPlatform(url, timeoutMs)
  try {
    const invented = `$2y$10$${randomBytes(40).toString('hex').slice(0, 53)}`
    const { failure, ms } = await attempt(platform, 'get_user_data', invented)
    // Whatever else would be tried fails likewise.
    if (failure instanceof PlatformUnavailable) return [fail('platform', explain(failure))]
    const findings = [refusal(failure, ms), await clock(url, timeoutMs)]
    if (new URL(url).protocol === 'http:') findings.push(warn('platform TLS', 'http: hashes travel unencrypted'))
    const tried = hash === undefined ? [warn('platform actions', untried)] : await permissions(platform, hash)
    findings.push(...tried)
    // Whatever else would be tried fails likewise.
    if (tried.some(({ name }) => name === 'PLATFORM_HASH')) return findings
    if (hash !== undefined) findings.push(await unixTimes(platform, hash))
    return [...findings, await addresses(config, platform, hash)]
  } finally {
    await platform.client.close()
  }
}

type CheckedPlatform = ReturnType<typeof openPlatform>

/** The platform without circuit breaker and queue: each request is sent, and shows how the platform responds. It throws as `Platform`. */
function openPlatform(url: string, timeoutMs: number) {
  const client = new HttpClient({ url, connections: 1 })
  const budget = new ByteBudget(Number.POSITIVE_INFINITY)
  const signal = (): AbortSignal => AbortSignal.timeout(timeoutMs)
  const devices = async (hash: string): Promise<FleetColumns> => {
    const action = 'get_devices'
    const job = { action, url, hash, owner: action, params: { id: undefined, now: Date.now() } } as const
    const context = { client, signal: signal(), reservation: budget.open(action) }
    return (await readDeviceList(job, context)).result
  }
  const get = (action: Action, hash: string): Promise<unknown> => {
    const request = { action, hash, query: {} }
    return action === 'get_devices'
      ? devices(hash)
      : client.send(request, signal(), (body) => readDocument(request, body, budget.open(action)))
  }
  return { client, get, devices }
}

/** Sends one request. @returns the failure, if any, and the duration. */
async function attempt(platform: CheckedPlatform, action: Action, hash: string) {
  const started = performance.now()
  const succeeded = (): unknown => undefined
  const failure = await platform.get(action, hash).then(succeeded, (error: unknown) => error)
  return { failure, ms: Math.round(performance.now() - started) }
}

/** Only a working platform refuses an invented hash. */
function refusal(failure: unknown, ms: number): Finding {
  if (!(failure instanceof PlatformRefused || failure instanceof PlatformForbidden)) {
    return fail('platform', 'accepts an invented hash: not a tracking platform, or an unprotected one')
  }
  // Proxies and firewalls forbid, and other applications redirect to a login page.
  if (failure instanceof PlatformForbidden || failure.detail === loginRedirect)
    return fail('platform', 'refuses an invented hash, but not as the platform does: is something in front of it?')
  return (ms > slowMs ? warn : ok)('platform', `responds as expected, in ${ms} ms`)
}

const hints: Partial<Record<PlatformUnavailable['reason'], string>> = {
  timeout: 'no response in time',
  connection: 'cannot be reached',
  missing_action: 'has no action {action}: is PLATFORM_URL its API base?',
  redirect: 'redirects: is PLATFORM_URL its API base, with https?',
  foreign_refusal: 'refuses, but not as the platform does: is something in front of it?',
  html: 'responds with a page instead of data: is PLATFORM_URL its API base?',
}

/** How OpenSSL names a certificate without a known issuer. */
const unknownIssuer = /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/
/** How OpenSSL and Node name one that has expired, is revoked, or is for another host. */
const invalidCertificate = /^(ERR_TLS_)?CERT_/

function explain({ action, detail = '', reason }: PlatformUnavailable): string {
  if (reason === 'connection' && unknownIssuer.test(detail))
    return `its certificate is not trusted (${detail}): set NODE_EXTRA_CA_CERTS to the file of its authority`
  if (reason === 'connection' && invalidCertificate.test(detail)) return `its certificate is not valid (${detail})`
  const known = hints[reason]?.replace('{action}', action)
  return `${known ?? `unusable response: ${reason}`}${detail ? ` (${detail})` : ''}`
}

async function clock(url: string, timeoutMs: number): Promise<Finding> {
  const sentAt = Date.now()
  const date = await fetch(url, { method: 'HEAD', redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) })
    .then(({ headers }) => Date.parse(headers.get('date') ?? ''))
    .catch(() => Number.NaN)
  if (Number.isNaN(date)) return warn('clock', 'the platform sends no date')
  // The header holds whole seconds, rounded down.
  const skewS = Math.round(Math.abs(date + 500 - (sentAt + Date.now()) / 2) / 1_000)
  const text = `${skewS} s apart from the platform’s`
  if (skewS > skewFailS) return fail('clock', text)
  return skewS > skewWarnS ? warn('clock', text) : ok('clock', text)
}

/** Whether the Unix times of the account's devices are UTC, not its wall clock, and not in the future. */
async function unixTimes(platform: CheckedPlatform, hash: string): Promise<Finding> {
  const name = 'platform times'
  try {
    const { ahead, now } = await platform.devices(hash)
    const zone = toZone(read(wireSetup, await platform.get('edit_setup_data', hash)))
    if (isWallClock(ahead, now, zone))
      return warn(name, 'Unix times are the wall clock of the account; the gateway corrects them')
    const rows = ahead.reduce((sum, [minutes, count]) => sum + (minutes > 0 ? count : 0), 0)
    return rows > 0 ? warn(name, `devices with a time in the future: ${rows}`) : ok(name, 'no device is in the future')
  } catch {
    return warn(name, 'not checked: the devices or the setup cannot be read')
  }
}

/** Somewhere on land. */
const place = { lat: 48.2082, lng: 16.3738 }

async function addresses(config: Config, platform: CheckedPlatform, hash: string | undefined): Promise<Finding> {
  const { addressLookupsPerMinute: perMinute } = config
  if (perMinute === 0) return ok('addresses', 'not looked up; ADDRESS_LOOKUPS_PER_MINUTE is 0')
  const limit = `at most ${perMinute} lookups a minute`
  if (hash === undefined) return warn('addresses', `${limit}, ${untried}`)
  try {
    await requestAddress(platform.client, hash, place)
    return ok('addresses', limit)
  } catch {
    return warn('addresses', `${limit}, but the platform’s geocoder does not work: addresses stay null`)
  }
}

async function permissions(platform: CheckedPlatform, hash: string): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const action of actions) {
    const { failure, ms } = await attempt(platform, action, hash)
    if (failure instanceof PlatformRefused)
      return [...findings, fail('PLATFORM_HASH', `the platform refuses it on ${action}`)]
    findings.push(permission(action, failure, ms))
  }
  return findings
}

function permission(action: Action, failure: unknown, ms: number): Finding {
  const name = `platform ${action}`
  if (failure === undefined) return (ms > slowMs ? warn : ok)(name, `${ms} ms`)
  if (failure instanceof PlatformForbidden) return warn(name, 'the account lacks the permission')
  if (!(failure instanceof PlatformUnavailable)) throw failure
  // Every platform has user data and devices.
  if (failure.reason === 'missing_action' && action !== 'get_user_data' && action !== 'get_devices')
    return warn(name, 'missing on this platform; it may be an old one')
  return fail(name, explain(failure))
}
