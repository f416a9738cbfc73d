/** A recording proxy in front of the real platform: forwards only reads, scrubs, compares, and writes only with `--update` or `--only`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify from 'fastify'
import { compare, fetchFrom } from './diff.js'
import { drift } from './drift.js'
import {
  type Exchange,
  type Folder,
  fileNameOf,
  type PlatformRequest,
  parseExchange,
  parseTarget,
  type RecordedResponse,
  writeExchange,
} from './exchange.js'
import { findLeaks } from './find-leaks.js'
import { jsonIn } from './json-lines.js'
import type { Pseudonyms } from './pseudonym.js'
import { isAddressLookup, type Scrub, withIds } from './scrub.js'

/** The actions that only read. The platform also has GETs that change data: nothing else is forwarded. */
const readActions = new Set(
  `get_user_data edit_setup_data get_devices get_devices_latest get_geofences get_events get_history get_history_messages get_alerts
   services get_services add_service_data get_user_drivers get_sensors get_custom_events devices_groups geofences_groups
   call_actions/event_types address address/reverse geo_address`.split(/\s+/),
)
const isReadAction = (action: string): boolean => readActions.has(action) || /^services\/\d+$/.test(action)

const timeoutMs = 60_000
const maxShownDifferences = 20

type PlatformResponse = Awaited<ReturnType<typeof fetchFrom>>

type RecorderOptions = {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  platform: string
  folder: string
  update: boolean
  /** Applied before anything is compared, shown or written. */
  scrub: Scrub
  /** Of the invented values. */
  fingerprint: string
  log: (line: string) => void
}

const timeout = (): AbortSignal => AbortSignal.timeout(timeoutMs)

/** @throws Error as `fetchFrom`, and for a status that no exchange may have. */
async function forward(platform: string, action: string, search: URLSearchParams, signal = timeout()) {
  const init = { headers: { accept: 'application/json' }, signal }
  const response = await fetchFrom(platform.replace(/(?<!\/)\/+$/, ''), `/${action}?${search}`, init)
  if (response.status > 599) throw new Error(`${platform} responds with status ${response.status}`)
  return response
}

/** Sends a request of our own. @throws Error as `forward`. */
const sendAs = (hash: string, platform: string, { action, query }: PlatformRequest): Promise<PlatformResponse> =>
  forward(platform, action, new URLSearchParams({ ...query, lang: 'en', user_api_hash: hash }))

function exchangeOf({ action, query }: PlatformRequest, { status, headers, text }: PlatformResponse): Exchange {
  const bom = text.startsWith('\uFEFF')
  const response: RecordedResponse = { ...bodyOf(bom ? text.slice(1) : text), headers }
  return { action, query, responses: [{ ...response, ...(bom ? { bom } : {}), ...(status === 200 ? {} : { status }) }] }
}

function bodyOf(text: string): RecordedResponse {
  if (text === '') return {}
  const json = jsonIn(text)
  if (json !== undefined) return { json }
  return text.trimStart().startsWith('<') ? { html: text } : { text }
}

/** An app that forwards `GET /api/<action>` of reading actions to the platform and records the responses. */
export function buildRecorder(options: RecorderOptions) {
  const hashes = new Set<string>()
  /** That of the account: the first one that the platform accepts. A folder holds one account. */
  let own: string | undefined
  const counts = { rejected: 0, stored: 0 }
  const files = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  const app = Fastify({ forceCloseConnections: true })
  const ending = new AbortController()
  app.addHook('preClose', async () => ending.abort(new Error('the recording has ended')))
  app.addHook('onClose', () => last)

  app.all('/*', async (incoming, reply) => {
    const recorded = parseTarget(incoming.url)
    if (incoming.method !== 'GET' || recorded === undefined || !isReadAction(recorded.action)) {
      return reply.code(405).header('allow', 'GET').send({ error: 'not_a_read_action' })
    }
    const sent = new URL(incoming.url, 'http://proxy').searchParams
    const sentHashes = sent.getAll('user_api_hash')
    for (const hash of sentHashes) hashes.add(hash)
    const signal = AbortSignal.any([timeout(), ending.signal])
    const response = await forward(options.platform, recorded.action, sent, signal).catch((error: Error) => {
      counts.rejected++
      options.log(`${recorded.action}: ${error.message}`)
    })
    if (response === undefined) return reply.code(502).send({ error: 'platform_unreachable' })
    if (!isRefusal(response)) own ??= sentHashes[0]
    const isOwn = own !== undefined && sentHashes.length > 0 && sentHashes.every((hash) => hash === own)
    last = last.then(async () => {
      const refuse = (error: Error): void => {
        options.log(`${recorded.action}: not written: ${error.message}`)
      }
      const problem =
        own === undefined
          ? 'the platform refuses the hash'
          : 'a second hash was sent, or none, and a folder is one account; restart with another --as'
      const kept =
        options.update && !isOwn
          ? refuse(new Error(problem))
          : await keep(exchangeOf(recorded, response), hashes, options).catch(refuse)
      if (!kept) counts.rejected++
      else if (options.update) counts.stored = files.add(fileNameOf(kept)).size
    })
    await last
    const { location, 'content-type': type = 'application/json', 'retry-after': retry } = response.headers
    if (location !== undefined) reply.header('location', location)
    if (retry !== undefined) reply.header('retry-after', retry)
    return reply.code(response.status).type(type).send(response.text)
  })
  return { app, counts }
}

/**
 * Sends one reading request to the platform and records its response.
 * @returns the scrubbed exchange, `undefined` when it holds a leak.
 * @throws Error when the action does not only read, or the platform cannot be reached or rejects the hash.
 */
export async function recordOne(wanted: PlatformRequest, hash: string, options: RecorderOptions) {
  if (!isReadAction(wanted.action)) throw new Error(`${wanted.action} is not an action that only reads`)
  await validateHash(options.platform, hash)
  const exchange = exchangeOf(wanted, await sendAs(hash, options.platform, wanted))
  // A gateway also requests single devices and pages, and reads the whole list as a response to them.
  const isWholeList = wanted.action === 'get_devices' && wanted.query.id === undefined
  return keep(isWholeList ? { ...exchange, any: ['id', 'limit', 'page'] } : exchange, new Set([hash]), options)
}

const isRefusal = ({ status }: PlatformResponse): boolean => status === 401 || status === 419

async function validateHash(platform: string, hash: string): Promise<void> {
  const response = await sendAs(hash, platform, { action: 'get_user_data', query: {} })
  // Some platforms refuse with a redirect to their login page, or with 200 and `{"status":0}`.
  const isRedirect = response.status >= 300 && response.status < 400
  const { status: flag } = (jsonIn(response.text) ?? {}) as { status?: unknown }
  if (isRefusal(response) || isRedirect || [0, '0', false].some((no) => no === flag))
    throw new Error(`${platform} rejects the hash in PLATFORM_HASH`)
  if (response.status === 404)
    throw new Error(`${platform}/get_user_data has status 404: is it the base URL of the platform, with /api?`)
}

/** Compares an exchange with the stored one and writes it with `update`. `undefined` when it holds a leak. */
async function keep(raw: Exchange, hashes: Set<string>, options: RecorderOptions): Promise<Exchange | undefined> {
  const { folder, update, scrub, fingerprint, log } = options
  const scrubbed = scrub(raw)
  const file = join(folder, fileNameOf(scrubbed))
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const stored = text === undefined ? undefined : parseExchange(file, text)
  // What its author wrote, or `--only`.
  const exchange = stored?.any ? { any: stored.any, ...scrubbed } : scrubbed
  const leaks = findLeaks(exchange, hashes)
  for (const leak of leaks) log(`${raw.action}: not written: ${leak}`)
  if (leaks.length > 0) return undefined
  const differences = stored === undefined ? [] : compare(stored, exchange)
  const about = 'Recorded from a platform and scrubbed.'
  const manifest = { about, email: 'recorded@example.com', origin: 'recorded', fingerprint } as const
  if (update) await writeExchange(folder, exchange, manifest)
  log(`${file}: ${stored === undefined ? 'new' : `${differences.length} differences`}${update ? ', stored' : ''}`)
  for (const { path, left: was, right: is } of differences.slice(0, maxShownDifferences)) {
    log(`  ${path}: ${JSON.stringify(was)} | ${JSON.stringify(is)}`)
  }
  return exchange
}

/**
 * Repeats all recorded requests except address lookups, whose positions are invented. Logs how the shape of the responses has changed, and
 * a summary.
 * @param pseudonyms of the recording, which reveal the real ids; undefined without its secret.
 * @returns whether nothing is gone and no kind has changed; new fields are logged and are no failure.
 * @throws Error when the platform cannot be reached or rejects the hash, or the real ids are needed and unknown.
 */
export async function check(
  platform: string,
  folder: Folder,
  hash: string,
  log: (line: string) => void,
  pseudonyms?: Pseudonyms,
): Promise<boolean> {
  const { origin, fingerprint } = folder.manifest
  const hasIds = (exchange: Exchange): boolean => fileNameOf(withIds(exchange, () => 0)) !== fileNameOf(exchange)
  const isRevealed = fingerprint === undefined ? pseudonyms !== undefined : pseudonyms?.fingerprint === fingerprint
  if (!isRevealed && origin === 'recorded' && folder.exchanges.some(hasIds))
    throw new Error(
      'the ids in this recording are invented: set RECORD_SECRET as it was set for the recording, or record again with one',
    )
  const originalId = (id: number): number => (origin === 'recorded' && pseudonyms?.originalId(id)) || id
  await validateHash(platform, hash)
  let changed = 0
  const exchanges = folder.exchanges.filter(({ action }) => !isAddressLookup(action))
  for (const exchange of exchanges) {
    const recorded = exchange.responses.at(-1) ?? {}
    const file = fileNameOf(exchange)
    const response = await sendAs(hash, platform, withIds(exchange, originalId)).catch(() => undefined)
    const live = response && exchangeOf(exchange, response).responses[0]
    const isSameKind = live !== undefined && kindOf(live) === kindOf(recorded)
    if (!isSameKind) log(`${file}: was ${kindOf(recorded)}, is ${live === undefined ? 'no response' : kindOf(live)}`)
    const drifts = isSameKind ? drift(recorded.json, live.json) : []
    for (const { path, what, was, is } of drifts) {
      log(`${file}: ${path} ${what}${was && `, was ${was}`}${is && `, is ${is}`}`)
    }
    if (!isSameKind || drifts.some(({ what }) => what !== 'new')) changed++
  }
  const count = `${exchanges.length} exchanges checked`
  log(changed === 0 ? `${count}: all have their recorded shape` : `${count}: ${changed} have changed`)
  return changed === 0
}

const kindOf = ({ status = 200, json, html }: RecordedResponse): string =>
  `status ${status} with ${json !== undefined ? 'JSON' : html !== undefined ? 'a page' : 'other text'}`
