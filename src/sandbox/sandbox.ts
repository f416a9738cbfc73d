/** A simulated fleet behind the platform's own protocol, as a Fastify app: the login, and the actions that only read. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import Fastify, { type FastifyError, type FastifyRequest } from 'fastify'
import { createAccounts } from './account.js'
import { actions } from './actions.js'
import { jsonChunks } from './json-stream.js'
import { compilePrograms } from './reports.js'
import { ok, parametersOf, type Result } from './request.js'

/** The accounts of the sandbox with this seed; the demo account comes first. */
export const sandboxAccounts = (seed = 7, devices = 50) => createAccounts(seed, devices)

/**
 * The platform's API under `/api`. The same seed gives the same fleet, accounts and hashes; `devices`, at most 100,000, are those of
 * the first account; `latencyMs` delays every response; `clock` returns epoch milliseconds. It logs nothing, since every URL has a hash.
 */
export function buildSandbox({ seed = 7, devices = 50, latencyMs = 0, clock = Date.now } = {}) {
  const accounts = createAccounts(seed, devices)
  // By default, a start that takes longer than ten seconds, on a busy machine, would fail.
  const app = Fastify({ logger: false, forceCloseConnections: true, pluginTimeout: 0 })
  app.addHook('onReady', () => compilePrograms(accounts[0]))
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, parseBody)
  app.addHook('onRequest', async () => {
    if (latencyMs > 0) await setTimeout(latencyMs)
  })
  /** The platform reads the parameters of GET and POST alike. */
  const route = (path: string, handler: (query: URLSearchParams) => Result | Promise<Result>) =>
    app.route<{ Body?: [string, unknown][] }>({
      method: ['GET', 'POST'],
      url: `/api/${path}`,
      handler: async ({ url, body = [] }, reply) => {
        const { searchParams } = new URL(url, 'http://sandbox')
        const result = await handler(parametersOf([...body, ...searchParams]))
        reply.code(result.status).type('application/json')
        return Readable.from(jsonChunks(result.body))
      },
    })
  for (const [path, action] of Object.entries(actions))
    route(path, async (query) => {
      const account = accounts.find(({ hash }) => hash === query.get('user_api_hash'))
      if (!account) return refused({ error: 'Unauthorized' })
      await compilePrograms(account)
      return action({ account, now: Math.floor(clock() / 1000), query })
    })
  route('login', (query) => {
    const [email, password] = [query.get('email'), query.get('password')]
    const account = accounts.find((one) => one.email === email && one.password === password)
    return account ? ok({ status: 1, user_api_hash: account.hash }) : refused({ message: 'Wrong credentials.' })
  })
  app.setErrorHandler<FastifyError>(({ statusCode = 500, message }, _request, reply) =>
    reply.code(statusCode).send({ status: 0, message }),
  )
  app.setNotFoundHandler(({ url }, reply) => {
    const path = url.split('?')[0]?.replace(/^\//, '')
    return reply.code(404).send({ message: `The route ${path} could not be found.` })
  })
  return app
}

const refused = (reason: Record<string, string>): Result => ({ status: 401, body: { status: 0, ...reason } })

/** JSON, or a form in either encoding. As on the platform, a body that cannot be read has no parameters. */
async function parseBody({ headers }: FastifyRequest, body: Buffer): Promise<[string, unknown][]> {
  const type = headers['content-type'] ?? ''
  const sent = new Response(body, { headers: { 'content-type': type } })
  if (type.includes('json')) return Object.entries((await sent.json().catch(() => null)) ?? {})
  return [...(await sent.formData().catch(() => new FormData()))]
}
