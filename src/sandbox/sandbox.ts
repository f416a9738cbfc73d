/** A simulated fleet behind the platform's own protocol, as a Fastify app: the reads that the gateway may request. */
import { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import Fastify from 'fastify'
import { createAccounts } from './account.js'
import { actions } from './actions.js'
import { inSlices, jsonChunks } from './json-stream.js'
import { compilePrograms } from './reports.js'
import type { Result } from './request.js'

/** The accounts of the sandbox with this seed; the demo account comes first. */
export const sandboxAccounts = (seed = 7, devices = 50) => createAccounts(seed, devices)

/**
 * The platform's API under `/api`. The same seed gives the same fleet, accounts and hashes; `devices`, at most 100,000, are those
 * of the first account; `latencyMs` delays every response; the clock has milliseconds. It logs nothing, since every URL holds a hash.
 */
export function buildSandbox({ seed = 7, devices = 50, latencyMs = 0, clock = Date.now } = {}) {
  const accounts = createAccounts(seed, devices)
  // Enough for the other account, too: once V8 has compiled the code, a program takes less than 10 ms.
  compilePrograms(accounts[0])
  const byHash = new Map(accounts.map((account) => [account.hash, account]))
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async () => {
    if (latencyMs > 0) await setTimeout(latencyMs)
  })
  for (const [path, action] of Object.entries(actions))
    app.get(`/api/${path}`, async ({ url }, reply) => {
      const query = parametersOf(url)
      const account = byHash.get(query.get('user_api_hash') ?? '')
      const result = account ? action({ account, now: Math.floor(clock() / 1000), query }) : unauthorized
      const { status, body } = Symbol.iterator in result ? await inSlices(result) : result
      reply.code(status).type('application/json')
      return Readable.from(jsonChunks(body))
    })
  app.setNotFoundHandler(({ url }, reply) => {
    const path = url.split('?')[0]?.replace(/^\//, '')
    return reply.code(404).send({ message: `The route ${path} could not be found.` })
  })
  return app
}

const unauthorized: Result = { status: 401, body: { status: 0, error: 'Unauthorized' } }

/** Empty values count as absent, as on the platform. */
function parametersOf(url: string): URLSearchParams {
  const { searchParams } = new URL(url, 'http://sandbox')
  return new URLSearchParams([...searchParams].filter(([, value]) => value !== ''))
}
