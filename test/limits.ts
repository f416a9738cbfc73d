/** What the tests of authentication, limits and API keys share. */
import { randomBytes } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { openStore } from '../src/store/open.js'
import { type Answer, answers, type Bodies, type Gateway, gatewayOn, someHash, type Test } from './helper.js'

export const otherHash = someHash.replace('ab', 'zz')
export const randomHash = (): string => `$2y$10$${randomBytes(40).toString('hex').slice(0, 53)}`
export const randomKey = (): string => `gps_live_${randomBytes(24).toString('hex')}`

export type Get = Gateway['get']

/** A platform that accepts every hash. */
export const fleet: Bodies = { get_devices: [], edit_setup_data: { item: { timezone_id: 1 } } }

export interface User {
  hash: string
  email: string | undefined
  userId?: number | string | undefined
}

export const owner = (): User => ({ hash: someHash, email: 'owner@example.com', userId: 7 })

/** A platform with an account for each user, whose hash can change; it refuses every other hash, late enough that refusals overlap. */
export function accountsOf(users: User[]): RequestListener {
  return (request, response) => {
    const hash = new URL(request.url ?? '', 'http://x').searchParams.get('user_api_hash')
    const user = users.find((one) => one.hash === hash)
    if (!user) return void setTimeout(() => answers({ '*': 401 })(request, response), 5)
    const { email, userId: id } = user
    const edit_setup_data = { item: { id, email, timezone_id: 61 }, timezones: [] }
    answers({ get_devices: [], get_user_data: { status: 1, email }, edit_setup_data })(request, response)
  }
}

/** Limit, remaining requests and seconds to the reset, as the headers say. */
export const limitsOf = ({ headers }: Pick<Answer, 'headers'>): [limit: number, remaining: number, reset: number] => {
  const number = (name: string): number => Number(headers.get(`ratelimit-${name}`))
  return [number('limit'), number('remaining'), number('reset')]
}

/** The statuses of requests that are sent one after the other. */
export async function statusesOf(count: number, send: (at: number) => Promise<Answer>): Promise<number[]> {
  const statuses: number[] = []
  while (statuses.length < count) statuses.push((await send(statuses.length)).status)
  return statuses
}

/** The request for a new API key. */
export function createKey(get: Get, body: object = { platform_hash: someHash }, more: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...more }
  return get('/v1/keys', undefined, { method: 'POST', body: JSON.stringify(body), headers })
}

export const revokeKey = (get: Get, id: string, hash = someHash): Promise<Answer> =>
  get(`/v1/keys/${id}`, hash, { method: 'DELETE' })

type Env = Record<string, string>

/** A gateway with a connection of its own to Redis, on a platform that accepts every hash unless `env` names another. */
export async function redisGateway(t: Test, redisUrl: string, env: Env, ticks = () => performance.now()) {
  const store = await openStore({ redisUrl, dataDir: '' }, { clock: Date.now, onDamaged: () => {} })
  t.teardown(() => store.close())
  return gatewayOn(t, { env, store, ticks }, fleet)
}
