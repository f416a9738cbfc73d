/** A platform that serves recorded exchanges and explains what it cannot serve. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify'
import { type Exchange, fileNameOf, type PlatformRequest, parseTarget, type RecordedResponse } from './exchange.js'
import type { Folder } from './folder.js'

/** A request without a recorded response, and the recording that comes nearest. */
export type Miss = { folder: string; request: PlatformRequest; nearest: ReturnType<typeof nearest> | null }

type ReplayOptions = {
  /** Only with one folder: the one hash it accepts, instead of any. */
  hash?: string | undefined
  onMiss?: (miss: Miss) => void
  /** Of a GET that is for no folder: its path, without the credential, and what is wrong with it. */
  onStray?: (path: string, fault: string) => void
}

const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The invented hash of a folder: shaped like the platform's, the same on every machine. */
export function hashOf(folder: string): string {
  const bytes = createHash('sha512').update(`replay:${folder}`).digest()
  const letters = Array.from({ length: 53 }, (_, i) => alphabet[(bytes[i] ?? 0) % alphabet.length])
  return `$2y$10$${letters.join('')}`
}

/**
 * A Fastify app that serves `GET /api/<action>` as recorded. One folder accepts any hash (or `options.hash`), each of several only
 * its own `hashOf(name)`; any other hash is 401. A miss is 501. The position in a sequence of responses lasts as long as the app.
 */
export function buildReplay(folders: readonly Folder[], options: ReplayOptions = {}): FastifyInstance {
  const app = Fastify({
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    routerOptions: { ignoreTrailingSlash: true },
  })
  const positions = new Map<Exchange, number>()
  const [only] = folders.length === 1 ? folders : []
  const folderOf = (hash: string): Folder | undefined => {
    if (only === undefined) return folders.find(({ name }) => hashOf(name) === hash)
    return hash !== '' && (options.hash === undefined || options.hash === hash) ? only : undefined
  }

  app.get<{ Querystring: { user_api_hash?: string | string[] } }>('/api/*', async (incoming, reply) => {
    const hash = String(incoming.query.user_api_hash ?? '')
    if (hash === '') options.onStray?.(pathOf(incoming), 'has no user_api_hash')
    const folder = folderOf(hash)
    if (folder === undefined) return reply.code(401).send({ status: 0, error: 'Unauthorized' })
    const request = parseTarget(incoming.url) ?? { action: '', query: {} }
    const exchange = match(request, folder.exchanges)
    if (exchange === undefined) {
      const miss = { folder: folder.name, request, nearest: nearest(request, folder.exchanges) ?? null }
      options.onMiss?.(miss)
      return reply.code(501).send({ error: 'no_recorded_response', ...miss })
    }
    const position = positions.get(exchange) ?? 0
    positions.set(exchange, position + 1)
    const response = exchange.responses[Math.min(position, exchange.responses.length - 1)] as RecordedResponse
    reply.hijack()
    await send(response, reply.raw)
  })
  app.setNotFoundHandler((incoming, reply) => {
    // Without a hash it is no request of a gateway: others look whether the replay is up.
    if (incoming.method === 'GET' && /[?&]user_api_hash=/.test(incoming.url))
      options.onStray?.(pathOf(incoming), 'is not below /api')
    return reply.code(405).header('allow', 'GET').send({ error: 'only_get_below_api' })
  })
  return app
}

const pathOf = ({ url }: FastifyRequest): string => url.replace(/\?.*/s, '')

/** As a recorded value: any value, as long as the parameter is sent. In `any`: every parameter. */
export const wildcard = '*'

/** The parameters in which request and recording differ; a side that lacks one is undefined. */
function differencesOf({ query }: PlatformRequest, { query: recorded, any = [] }: Exchange) {
  const isAny = (name: string): boolean => {
    // `id[1]` is an item of the list `id[]`.
    const list = name.replace(/\[\d+\]$/, '[]')
    return recorded[list] === wildcard || [name, list, wildcard].some((one) => any.includes(one))
  }
  const [sentBy, recordedBy] = [new Map(Object.entries(query)), new Map(Object.entries(recorded))]
  return [...new Set([...recordedBy.keys(), ...sentBy.keys()])]
    .map((name) => ({ name, sent: sentBy.get(name), recorded: recordedBy.get(name) }))
    .filter(({ name, sent, recorded }) =>
      recorded === undefined ? !isAny(name) : recorded !== sent && (sent === undefined || recorded !== wildcard),
    )
}

/** The exchange without a difference that names most parameters of the request; an exact value wins over `*`. */
export function match(request: PlatformRequest, exchanges: readonly Exchange[]): Exchange | undefined {
  const score = ({ query }: Exchange) =>
    Object.values(query).reduce((sum, value) => sum + (value === wildcard ? 100 : 101), 0)
  const [best] = exchanges
    .filter((exchange) => exchange.action === request.action && differencesOf(request, exchange).length === 0)
    .sort((a, b) => score(b) - score(a))
  return best
}

/** The exchange that comes nearest to a request without a match, and where they differ. */
export function nearest(request: PlatformRequest, exchanges: readonly Exchange[]) {
  // An action may end with an id: `services/501`.
  const kindOf = ({ action }: PlatformRequest): string => action.replace(/\/\d+$/, '/0')
  const same = exchanges.filter((exchange) => exchange.action === request.action)
  const alike = same.length > 0 ? same : exchanges.filter((exchange) => kindOf(exchange) === kindOf(request))
  const [best] = (alike.length > 0 ? alike : exchanges).toSorted(
    (a, b) => differencesOf(request, a).length - differencesOf(request, b).length,
  )
  if (best === undefined) return undefined
  const found = { file: fileNameOf(best), differs: differencesOf(request, best) }
  return best.action === request.action ? found : { ...found, action: best.action }
}

async function send(recorded: RecordedResponse, response: ServerResponse): Promise<void> {
  if (recorded.delay_ms !== undefined) await wait(recorded.delay_ms, undefined, { ref: false })
  if (recorded.reset === 'before') return reset(response)
  const whole = bodyOf(recorded)
  const body = recorded.cut_at === undefined ? whole : whole.subarray(0, recorded.cut_at)
  const type = recorded.html === undefined ? 'application/json' : 'text/html; charset=UTF-8'
  const headers = { 'content-type': type, 'content-length': body.length, ...recorded.headers }
  // A recorded one replaces ours, however it is spelt.
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.writeHead(recorded.status ?? 200)
  if (recorded.reset !== 'during') return void response.end(body)
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => reset(response))
}

const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy()

function bodyOf(recorded: RecordedResponse): Buffer {
  const text = recorded.json === undefined ? (recorded.html ?? recorded.text ?? '') : JSON.stringify(recorded.json)
  return Buffer.from(recorded.bom ? `\uFEFF${text}` : text)
}
