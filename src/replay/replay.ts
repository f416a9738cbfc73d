/** A platform that answers from recorded exchanges and explains what it cannot answer. Knows nothing of the gateway. */
import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Answer, type Exchange, type Folder, type Question, questionOf } from './exchange.js'
import { match, nearest } from './match.js'

/** A question nothing answered; `nearest` says which recorded one comes closest. */
export type Miss = { folder: string; asked: Question; nearest: ReturnType<typeof nearest> | null }

export type ReplayOptions = {
  /** Only with one folder: the one hash it answers to, in place of any. */
  hash?: string | undefined
  onMiss?: (miss: Miss) => void
}

const alphabet = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** The invented hash of a folder: shaped like the platform's (platform.md 1.1), the same on every machine. */
export function hashOf(folder: string): string {
  const bytes = createHash('sha512').update(`replay:${folder}`).digest()
  const letters = Array.from({ length: 53 }, (_, i) => alphabet[(bytes[i] ?? 0) % alphabet.length])
  return `$2y$10$${letters.join('')}`
}

/**
 * A Fastify app that answers `GET /api/<action>` as recorded. One folder answers to any hash (or to `options.hash`),
 * each of several only to its own `hashOf(name)`; any other hash is 401. A question without an answer is 501.
 * Where a sequence of answers stands is remembered for the life of the app.
 */
export function buildReplay(folders: readonly Folder[], options: ReplayOptions = {}): FastifyInstance {
  const app = Fastify({ forceCloseConnections: true, routerOptions: { ignoreTrailingSlash: true } })
  const asked = new Map<Exchange, number>()
  const [only] = folders.length === 1 ? folders : []
  const folderOf = (hash: string): Folder | undefined => {
    if (only === undefined) return folders.find(({ name }) => hashOf(name) === hash)
    return hash !== '' && (options.hash === undefined || options.hash === hash) ? only : undefined
  }

  app.get<{ Querystring: { user_api_hash?: string | string[] } }>('/api/*', async (request, reply) => {
    const folder = folderOf(String(request.query.user_api_hash ?? ''))
    if (folder === undefined) return reply.code(401).send({ status: 0, error: 'Unauthorized' })
    const question = questionOf(request.url) ?? { action: '', query: {} }
    const exchange = match(question, folder.exchanges)
    if (exchange === undefined) {
      const miss = { folder: folder.name, asked: question, nearest: nearest(question, folder.exchanges) ?? null }
      options.onMiss?.(miss)
      return reply.code(501).send({ error: 'no_recorded_answer', ...miss })
    }
    const turn = asked.get(exchange) ?? 0
    asked.set(exchange, turn + 1)
    const answer = exchange.answers[Math.min(turn, exchange.answers.length - 1)] as Answer
    reply.hijack()
    await give(answer, reply.raw)
  })
  app.setNotFoundHandler((_, reply) => reply.code(405).header('allow', 'GET').send({ error: 'only_get_below_api' }))
  return app
}

/** Puts an answer on the wire with whatever misbehaviour it asks for. */
async function give(answer: Answer, response: ServerResponse): Promise<void> {
  if (answer.delay_ms !== undefined) await wait(answer.delay_ms, undefined, { ref: false })
  if (answer.reset === 'before') return reset(response)
  const whole = bodyOf(answer)
  const body = answer.cut_at === undefined ? whole : whole.subarray(0, answer.cut_at)
  const type = answer.html === undefined ? 'application/json' : 'text/html; charset=UTF-8'
  response.writeHead(answer.status ?? 200, { 'content-type': type, 'content-length': body.length, ...answer.headers })
  if (answer.reset !== 'during') return void response.end(body)
  response.write(body.subarray(0, Math.floor(body.length / 2)), () => reset(response))
}

const reset = (response: ServerResponse): void => void response.socket?.resetAndDestroy()

function bodyOf(answer: Answer): Buffer {
  const text = answer.json === undefined ? (answer.html ?? answer.text ?? '') : JSON.stringify(answer.json)
  return Buffer.from(answer.bom ? `\uFEFF${text}` : text)
}
