/** A recording proxy in front of the real platform: forwards only reads, scrubs, compares, and writes only with `--update` or `--only`. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify from 'fastify'
import { compare } from './diff.js'
import { type Exchange, fileNameOf, type PlatformRequest, parseExchange, parseTarget } from './exchange.js'
import { findLeaks } from './find-leaks.js'
import { writeExchange } from './folder.js'
import { forward, isRefusal, isSuccess, responseOf, sendAs, timeout, validateHash } from './requests.js'
import type { Scrub } from './scrub.js'

/** The actions that only read. The platform also has GETs that change data: nothing else is forwarded. */
const readActions = new Set(
  `get_user_data edit_setup_data get_devices get_devices_latest get_geofences get_events get_history get_history_messages get_alerts
   services get_services add_service_data get_user_drivers get_sensors get_custom_events devices_groups geofences_groups
   call_actions/event_types address address/reverse geo_address`.split(/\s+/),
)
const isReadAction = (action: string): boolean => readActions.has(action) || /^services\/\d+$/.test(action)

const maxShownDifferences = 20

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

/** An app that forwards `GET /api/<action>` of reading actions to the platform and records the responses. */
export function buildRecorder(options: RecorderOptions) {
  const hashes = new Set<string>()
  /** That of the account: the first one with a success. A folder holds one account. */
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
    const received = responseOf(response)
    if (isSuccess(received)) own ??= sentHashes[0]
    const isOwn = own !== undefined && sentHashes.length > 0 && sentHashes.every((hash) => hash === own)
    last = last.then(async () => {
      const refuse = (error: Error): void => {
        options.log(`${recorded.action}: not written: ${error.message}`)
      }
      const unaccepted = isRefusal(received) ? 'the platform refuses the hash' : 'the platform has accepted no hash yet'
      const problem =
        own === undefined
          ? unaccepted
          : 'a second hash was sent, or none, and a folder is one account; restart with another --as'
      const kept =
        options.update && !isOwn
          ? refuse(new Error(problem))
          : await keep({ ...recorded, responses: [received] }, hashes, options).catch(refuse)
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
 * @returns as `keep`.
 * @throws Error when the action does not only read, or the platform cannot be reached or rejects the hash.
 */
export async function recordOne(wanted: PlatformRequest, hash: string, options: RecorderOptions) {
  if (!isReadAction(wanted.action)) throw new Error(`${wanted.action} is not an action that only reads`)
  await validateHash(options.platform, hash)
  const response = responseOf(await sendAs(hash, options.platform, wanted))
  // A gateway also requests single devices and pages, and reads the whole list as a response to them.
  const isWholeList = wanted.action === 'get_devices' && wanted.query.id === undefined
  const exchange = { ...wanted, ...(isWholeList ? { any: ['id', 'limit', 'page'] } : {}), responses: [response] }
  return keep(exchange, new Set([hash]), options)
}

/** Compares an exchange with the stored one and writes it with `update`. `undefined` when it holds a leak, or no success in place of one. */
async function keep(raw: Exchange, hashes: Set<string>, options: RecorderOptions): Promise<Exchange | undefined> {
  const { folder, update, scrub, fingerprint, log } = options
  const scrubbed = scrub(raw)
  const file = join(folder, fileNameOf(scrubbed))
  const text = await readFile(file, 'utf8').catch(() => undefined)
  const stored = text === undefined ? undefined : parseExchange(file, text)
  // What its author wrote, or `--only`.
  const exchange = stored?.any ? { any: stored.any, ...scrubbed } : scrubbed
  const problems = findLeaks(exchange, hashes)
  if (stored?.responses.some(isSuccess) && !exchange.responses.every(isSuccess)) {
    const status = exchange.responses[0]?.status ?? 200
    problems.push(`status ${status} is no success, and the recorded response is one; to record it, delete ${file}`)
  }
  for (const problem of problems) log(`${raw.action}: not written: ${problem}`)
  if (problems.length > 0) return undefined
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
