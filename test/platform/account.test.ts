/** Accounts: what their calls share, and what they do not. */
import type { RequestListener, ServerResponse } from 'node:http'
import t from 'tap'
import type { Account } from '../../src/platform/account.js'
import { failureOf } from '../devices/worker.js'
import { type Bodies, someHash, startedWorker } from '../helper.js'
import { until } from '../redis.js'
import { accountOn, clientOn } from './faulty.js'

t.test('equal requests of one account share a call in flight, whether it works or fails; no others do', async (t) => {
  await startedWorker()
  const waiting: (() => void)[] = []
  const respond: RequestListener = (request, response) => {
    const isRefusing = request.url?.includes('get_alerts')
    waiting.push(() => response.writeHead(isRefusing ? 500 : 200).end('{"items":[]}'))
  }
  const { platform, calls } = await clientOn(t, respond)
  const [one, other] = [accountOn(platform), accountOn(platform, `${someHash}x`)]
  const day = { from: '2026-05-11', to: '2026-05-11', positions: true, format: 'json' } as const
  const history = (account: Account, deviceId: number) => account.history({ ...day, deviceId }, undefined)
  const sent = [history(one, 7), history(one, 7), history(one, 8), history(other, 7)]
  const refused = [failureOf(one.list('get_alerts')), failureOf(one.list('get_alerts'))]
  await until(async () => calls.length === 4)
  for (const respond of waiting.splice(0)) respond()
  await Promise.all(sent)
  t.same(await Promise.all(refused), ['server_error', 'server_error'])
  t.equal(calls.length, 4, 'three histories and one list of alerts')
  const again = history(one, 7)
  await until(async () => calls.length === 5)
  for (const respond of waiting.splice(0)) respond()
  await again
})

t.test('all that may not share a call in flight share the one after it, however many they are', async (t) => {
  const held: ServerResponse[] = []
  const { platform, calls } = await clientOn(t, (_request, response) => void held.push(response))
  const account = accountOn(platform)
  const sizeOf = async (isFresh: boolean) =>
    (await account.eventPages({}, account.openCallBudget(1), isFresh)(1, 50)).perPage
  const respond = async (number: number): Promise<unknown> => {
    await until(async () => calls.length === number)
    return held.pop()?.end(JSON.stringify({ items: { data: [], total: 0, per_page: number } }))
  }
  const first = [sizeOf(true), sizeOf(false)]
  const later = Array.from({ length: 20 }, () => sizeOf(true))
  await respond(1)
  t.same(await Promise.all(first), [1, 1])
  await until(async () => calls.length === 2)
  const last = [sizeOf(true), sizeOf(true), sizeOf(false)]
  await respond(2)
  t.same(await Promise.all(later), Array(20).fill(2))
  await respond(3)
  t.same(await Promise.all(last), [3, 3, 2])
  t.equal(calls.length, 3)
})

t.test('an account has one share and one circuit, in whatever spelling the platform accepts its hash', async (t) => {
  const held: ServerResponse[] = []
  const bodies: Bodies = { get_alerts: 500, get_devices: (_: unknown, response: ServerResponse) => held.push(response) }
  const { platform, calls } = await clientOn(t, bodies)
  const spellings = ['a', 'b', 'c'].map((letter) => accountOn(platform, `${someHash}${letter}`, 'one'))
  const other = accountOn(platform)
  const devices = Array.from({ length: 12 }, (_, at) => spellings[at % 3]?.devices(at + 1, 0))
  await until(async () => held.length === 8)
  devices.push(other.devices(1, 0))
  await until(async () => held.length === 9)
  bodies.get_devices = []
  for (const response of held) response.end('[]')
  await Promise.all(devices)
  const failures: unknown[] = []
  for (let n = 0; n < 6; n += 1) failures.push(await failureOf(spellings[n % 3]!.list('get_alerts')))
  t.same(failures, [...Array(5).fill('server_error'), 'breaker_open'])
  t.equal(await failureOf(other.list('get_alerts')), 'server_error', 'which opens nothing for others')
  t.equal(calls.length, 13 + 6)
})

t.test('a response of so many rows, names or values that it would hold up all others is given up', async (t) => {
  let body = ''
  const { platform } = await clientOn(t, (_request, response) => void response.end(body))
  const account = accountOn(platform)
  const rows = (count: number) => JSON.stringify({ data: Array.from({ length: count }, (_, at) => ({ id: at + 1 })) })
  const beside = (more: string) => `{"items":{"drivers":[{"id":1}]},"more":[${more}]}`
  const member = (at: number, name: number) => `${at % 5 ? '' : '{'}"n${name}" :0${at % 5 < 4 ? '' : '}'}`
  const names = (count: number) => beside(`${Array.from({ length: 160_000 }, (_, at) => member(at, at % count))}`)
  // Each comma and each bracket is one.
  const values = (count: number) => beside(`0${',0'.repeat(count - 6)}`)
  const outcomes: [expected: string, body: string, ...devices: number[]][] = [
    ['data', rows(50_000)],
    ['too_large', rows(50_001)],
    ['data', rows(12_500), 1, 2, 3, 4],
    ['too_large', rows(12_501), 1, 2, 3, 4],
    ['too_large', rows(200_000), 1],
    ['data', names(90_000)],
    ['too_large', names(160_000)],
    ['data', values(2_000_000)],
    ['too_large', values(2_000_001)],
  ]
  for (const [expected, sent, ...devices] of outcomes) {
    body = sent
    const read = devices.length > 0 ? account.deviceServices(devices) : account.list('get_user_drivers')
    t.equal(await failureOf(read), expected, `${sent.length} bytes for ${devices.length} devices`)
  }
})

t.test('a platform without settings or event types gets one request for them, a failing one another', async (t) => {
  const bodies: Bodies = { edit_setup_data: 500 }
  const { platform, calls } = await clientOn(t, bodies)
  const account = accountOn(platform)
  t.equal(await account.knownSetup(), undefined)
  delete bodies.edit_setup_data
  for (const _ of [1, 2]) t.same([await account.knownSetup(), await account.eventTypes()], [undefined, []])
  t.equal(calls.length, 3)
})

t.test('of a list of event types, however large, a few short words are kept', async (t) => {
  let types: object[] = []
  const { platform } = await clientOn(t, {
    'call_actions/event_types': (_: unknown, response: ServerResponse) => response.end(JSON.stringify({ types })),
  })
  types = ['x'.repeat(100_000), ' zone_in ', ...Array(5_000).fill('driver')].map((type) => ({ type }))
  const kept = await accountOn(platform).eventTypes()
  t.same([kept.length, kept[0], kept[1]], [100, 'zone_in', 'driver'])
  types = Array.from({ length: 100_000 }, () => ({ type: 'driver' }))
  t.same(await accountOn(platform).eventTypes(), [], 'more than a megabyte is not read')
})
