/** A proxy before the real platform that hears, scrubs and compares, and writes only when told to. Reads only, follows nothing. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Fastify, { type FastifyInstance } from 'fastify'
import { request } from 'undici'
import { compare } from './diff.js'
import { drift } from './drift.js'
import {
  type Answer,
  type Exchange,
  type Folder,
  fileNameOf,
  parseExchange,
  type Question,
  questionOf,
  writeFolder,
} from './exchange.js'
import type { Scrub } from './scrub.js'
import { survivors } from './survivors.js'

/** The actions that only read. The platform also has GETs that change data: nothing else is forwarded. */
const readActions = new Set(
  `get_user_data edit_setup_data get_devices get_devices_latest get_geofences get_events get_history get_history_messages get_alerts
   services get_services add_service_data get_user_drivers get_sensors get_custom_events devices_groups geofences_groups
   call_actions/event_types`.split(/\s+/),
)
const isReadAction = (action: string): boolean => readActions.has(action) || /^services\/\d+$/.test(action)

const timeoutMs = 60_000
const shownDifferences = 20

type Heard = { status: number; headers: Record<string, string>; body: string }

type RecorderOptions = {
  /** The platform's API base, for example `https://tracker.example.com/api`. */
  platform: string
  /** The account's folder. */
  folder: string
  update: boolean
  /** Applied before anything is compared, told or written. */
  scrub: Scrub
  say: (line: string) => void
}

/** `refused` counts the exchanges that were not fit to be kept. */
type Recorder = { app: FastifyInstance; refused: () => number }

async function hear(platform: string, { action, query }: Question, credential: Record<string, string>): Promise<Heard> {
  const search = new URLSearchParams({ ...query, ...credential })
  const response = await request(`${platform.replace(/(?<!\/)\/+$/, '')}/${action}?${search}`, {
    headers: { accept: 'application/json' },
    signal: AbortSignal.timeout(timeoutMs),
  })
  const headers = Object.entries(response.headers).map(([name, value]) => [name, String(value)])
  return { status: response.statusCode, headers: Object.fromEntries(headers), body: await response.body.text() }
}

function exchangeOf({ action, query }: Question, { status, headers, body }: Heard): Exchange {
  const bom = body.startsWith('\uFEFF')
  const text = bom ? body.slice(1) : body
  const answer: Answer = { ...bodyOf(text), headers }
  return { action, query, answers: [{ ...answer, ...(bom ? { bom } : {}), ...(status === 200 ? {} : { status }) }] }
}

function bodyOf(text: string): Answer {
  if (text === '') return {}
  try {
    return { json: JSON.parse(text) as unknown }
  } catch {
    return text.trimStart().startsWith('<') ? { html: text } : { text }
  }
}

/** An app that forwards `GET /api/<action>` of reading actions to the platform, and the tally of what it would not keep. */
export function buildRecorder(options: RecorderOptions): Recorder {
  const hashes = new Set<string>()
  let refused = 0
  let last: Promise<void> = Promise.resolve()
  const app = Fastify({ forceCloseConnections: true })
  app.addHook('onClose', () => last)

  app.all('/*', async (incoming, reply) => {
    const question = questionOf(incoming.url)
    if (incoming.method !== 'GET' || question === undefined || !isReadAction(question.action)) {
      return reply.code(405).header('allow', 'GET').send({ error: 'not_a_read_action' })
    }
    const sent = new URL(incoming.url, 'http://proxy').searchParams
    const credential = Object.fromEntries([...sent].filter(([name]) => !Object.hasOwn(question.query, name)))
    if (credential.user_api_hash) hashes.add(credential.user_api_hash)
    const heard = await hear(options.platform, question, credential).catch(() => undefined)
    if (heard === undefined) return reply.code(502).send({ error: 'platform_unreachable' })
    last = last.then(async () => {
      if (!(await keep(exchangeOf(question, heard), hashes, options))) refused++
    })
    await last
    const { location, 'content-type': type = 'application/json', 'retry-after': retry } = heard.headers
    if (location !== undefined) reply.header('location', location)
    if (retry !== undefined) reply.header('retry-after', retry)
    return reply.code(heard.status).type(type).send(heard.body)
  })
  return { app, refused: () => refused }
}

/** Compares an exchange with the stored one and writes it where that is wanted; false when it is not fit to be written. */
async function keep(raw: Exchange, hashes: Set<string>, options: RecorderOptions): Promise<boolean> {
  const { folder, update, scrub, say } = options
  const exchange = trimmed(scrub(raw))
  const file = join(folder, fileNameOf(exchange))
  const left = survivors(exchange, hashes)
  if (left.length > 0) {
    for (const line of left) say(`${raw.action}: not written: ${line}`)
    return false
  }
  const stored = await readFile(file, 'utf8').then(
    (text) => parseExchange(file, text),
    () => undefined,
  )
  const differences = stored === undefined ? [] : compare(stored, exchange)
  say(`${file}: ${stored === undefined ? 'not stored yet' : `${differences.length} differences`}`)
  for (const { path, left: was, right: is } of differences.slice(0, shownDifferences)) {
    say(`  ${path}: ${JSON.stringify(was)} | ${JSON.stringify(is)}`)
  }
  const about = 'Recorded from a platform and scrubbed.'
  if (update) await writeFolder(folder, [exchange], { about, email: 'recorded@example.com', origin: 'recorded' })
  return true
}

/** Without an empty `headers`. */
const trimmed = ({ answers, ...rest }: Exchange): Exchange => ({
  ...rest,
  answers: answers.map(({ headers, ...answer }) =>
    headers === undefined || Object.keys(headers).length === 0 ? answer : { ...answer, headers },
  ),
})

/**
 * Asks every recorded question again and tells what has changed in the shape of the answers.
 * @returns whether nothing is gone and no kind has changed; new fields are told and are no failure.
 */
export async function check(
  platform: string,
  folder: Folder,
  hash: string,
  say: (line: string) => void,
): Promise<boolean> {
  let same = true
  for (const exchange of folder.exchanges) {
    const recorded = exchange.answers.at(-1) ?? {}
    const file = fileNameOf(exchange)
    const heard = await hear(platform, exchange, { lang: 'en', user_api_hash: hash }).catch(() => undefined)
    const live = heard === undefined ? undefined : exchangeOf(exchange, heard).answers[0]
    if (live === undefined || kindOf(live) !== kindOf(recorded)) {
      say(`${file}: was ${kindOf(recorded)}, is ${live === undefined ? 'no answer' : kindOf(live)}`)
      same = false
      continue
    }
    for (const { path, what, was, is } of drift(recorded.json, live.json)) {
      say(`${file}: ${path} ${what}${was && `, was ${was}`}${is && `, is ${is}`}`)
      if (what !== 'new') same = false
    }
  }
  return same
}

/** What a client must know of an answer before it reads it. */
const kindOf = ({ status = 200, json, html }: Answer): string =>
  `status ${status} with ${json !== undefined ? 'JSON' : html !== undefined ? 'a page' : 'other text'}`
