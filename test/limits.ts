/** What the tests of authentication, limits and API keys share. */
import { randomBytes } from 'node:crypto'
import { openStore } from '../src/store/open.js'
import { type Answer, answers, type Gateway, gateway, platform, someHash, type Test } from './helper.js'

export const otherHash = someHash.replace('ab', 'zz')
export const randomHash = (): string => `$2y$10$${randomBytes(40).toString('hex').slice(0, 53)}`
export const randomKey = (): string => `gps_live_${randomBytes(24).toString('hex')}`

export type Get = Gateway['get']

/** A platform that accepts every hash. */
export const fleet = answers({ get_devices: [], edit_setup_data: { item: { timezone_id: 1 } } })
export const unauthorized = '{"status":0,"message":"Unauthorized"}'

export interface User {
  hash: string
  email: string
  userId?: number | string | undefined
}

/** A platform with an account for each user, whose hash can change; every other hash is refused. */
export async function usersPlatform(t: Test, ...users: User[]) {
  const { url, calls } = await platform(t, (request, response) => {
    const hash = new URL(request.url ?? '', 'http://x').searchParams.get('user_api_hash')
    const user = users.find((one) => one.hash === hash)
    if (!user) return void response.writeHead(401).end(unauthorized)
    const { email, userId: id } = user
    const edit_setup_data = { item: { id, email, timezone_id: 61 }, timezones: [] }
    answers({ get_devices: [], get_user_data: { email }, edit_setup_data })(request, response)
  })
  return { url, calls, users }
}

/** Limit, remaining requests and seconds to the reset, as the headers say. */
export const limitsOf = ({ headers }: Pick<Answer, 'headers'>): [limit: number, remaining: number, reset: number] => {
  const number = (name: string): number => Number(headers.get(`ratelimit-${name}`))
  return [number('limit'), number('remaining'), number('reset')]
}

/** The request for a new API key. */
export function createKey(get: Get, body: object = { platform_hash: someHash }, more: object = {}): Promise<Answer> {
  const headers = { 'content-type': 'application/json', ...more }
  return get('/v1/keys', undefined, { method: 'POST', body: JSON.stringify(body), headers })
}

/** A gateway with a connection of its own to Redis. */
export async function redisGateway(t: Test, redisUrl: string, env: Record<string, string>): Promise<Gateway> {
  const store = await openStore({ redisUrl, dataDir: '' }, { clock: Date.now, onDamaged: () => {} })
  t.teardown(() => store.close())
  return gateway(t, { env, store })
}
