/** A simulated fleet behind the platform's own protocol: a Fastify app that answers as the platform does. Knows no gateway. */
import { setImmediate, setTimeout } from 'node:timers/promises'
import Fastify, { type FastifyInstance } from 'fastify'
import { type Account, accountsOf } from './account.js'
import { accountActions } from './account-actions.js'
import type { Answer, Query } from './answer.js'
import { eventActions } from './event-actions.js'
import { Events } from './events.js'
import { buildFleet, type Fleet } from './fleet.js'
import { fleetActions } from './fleet-actions.js'

export type SandboxOptions = {
  /** The same seed gives the same fleet, accounts and hashes. */
  seed?: number
  /** Vehicles of the first account, at most 100,000. */
  devices?: number
  /** Waited before every answer. */
  latencyMs?: number
  /** Milliseconds since 1970: all the sandbox knows of time. */
  clock?: { now(): number }
}

export type SandboxAccount = {
  email: string
  hash: string
  devices: number
  firstDeviceId: number
  zoneSeconds: number
}

/** The accounts of the sandbox with this seed; the first is the one for demonstrations. */
export function sandboxAccounts(seed = 7, devices = 50): SandboxAccount[] {
  return accountsOf(seed, devices).map(({ email, hash, devices, firstId, zoneSeconds }) => {
    return { email, hash, devices, firstDeviceId: firstId, zoneSeconds }
  })
}

/** The platform's API under `/api`; it logs nothing, for every address holds a hash. */
export function buildSandbox({
  seed = 7,
  devices = 50,
  latencyMs = 0,
  clock = Date,
}: SandboxOptions = {}): FastifyInstance {
  const offices = new Map(accountsOf(seed, devices).map((account) => [account.hash, new Office(account)]))
  const app = Fastify({ logger: false, forceCloseConnections: true })
  app.addHook('onRequest', async () => {
    if (latencyMs > 0) await setTimeout(latencyMs)
  })
  const answer = (path: string, act: (office: Office, now: number, query: Query, id?: string) => Promise<Answer>) =>
    app.get<{ Querystring: Query; Params: { id?: string } }>(`/api/${path}`, async ({ query, params }, reply) => {
      const office = offices.get(String(query.user_api_hash))
      if (!office) return reply.code(401).send({ status: 0, error: 'Unauthorized' })
      const { status, body } = await act(office, Math.floor(clock.now() / 1000), textOnly(query), params.id)
      return reply.code(status).send(body)
    })
  for (const [path, action] of Object.entries(accountActions))
    answer(path, async ({ account }, _now, query) => action(account, query))
  for (const [path, action] of Object.entries(fleetActions))
    answer(path, async (office, now, query, id) => {
      return action({ account: office.account, fleet: await office.fleet(), now }, query, id)
    })
  for (const [path, action] of Object.entries(eventActions))
    answer(path, async (office, now, query) => {
      const [fleet, events] = [await office.fleet(), await office.events(now)]
      return action({ account: office.account, fleet, events, now }, query)
    })
  app.setNotFoundHandler((request, reply) => {
    if (request.headers.accept?.includes('application/json')) return reply.code(404).send({ message: 'Not Found' })
    return reply.code(404).type('text/html').send('<!DOCTYPE html><title>Not Found</title><h1>404 Not Found</h1>')
  })
  return app
}

/** A repeated query name counts once, as the last one says. */
function textOnly(query: Record<string, unknown>): Query {
  return Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String([value].flat().at(-1))]))
}

/** An account whose fleet and events are worked out when somebody first asks, without holding up the process. */
class Office {
  readonly account: Account
  #fleet: Promise<Fleet> | undefined
  #events: Events | undefined

  constructor(account: Account) {
    this.account = account
  }

  fleet(): Promise<Fleet> {
    this.#fleet ??= inSlices(buildFleet(this.account, this.account.devices))
    return this.#fleet
  }

  async events(now: number): Promise<Events> {
    const fleet = await this.fleet()
    this.#events ??= new Events(this.account, fleet)
    await inSlices(this.#events.prepare(now))
    return this.#events
  }
}

async function inSlices<T>(work: Generator<void, T>): Promise<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    await setImmediate()
  }
}
