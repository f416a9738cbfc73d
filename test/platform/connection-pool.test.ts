/** Tests of which connection a request gets, on a platform that may send its responses twice. */
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { textIn } from '../../src/platform/body.js'
import { HttpClient } from '../../src/platform/http-client.js'
import { listening } from '../redis.js'

/** When the platform responds to a request, and how long afterwards it sends the response again; undefined = never. */
interface Delays {
  responseMs: number
  repeatMs: number | undefined
}

/** A client of a platform whose responses consist of the hash, and the number of connections that it has opened. */
async function clientOf(t: Test, { responseMs, repeatMs }: Delays, connections: number) {
  let opened = 0
  const url = await listening(t, (socket) => {
    opened += 1
    socket.on('error', () => {}).setNoDelay()
    t.teardown(() => socket.destroy())
    socket.on('data', (head) => {
      const hash = /user_api_hash=(\w+)/.exec(head.toString())?.[1] ?? ''
      const respond = (): unknown => socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${hash.length}\r\n\r\n${hash}`)
      setTimeout(respond, responseMs)
      if (repeatMs !== undefined) setTimeout(respond, responseMs + repeatMs)
    })
  })
  const client = new HttpClient({ url: url.replace('redis:', 'http:'), connections })
  t.teardown(() => client.close())
  const send = (hash: string) =>
    client.send({ action: 'get_devices', hash, query: {} }, AbortSignal.timeout(60_000), (body) => textIn(body, 100))
  return { send, opened: () => opened }
}

t.test('a response that is sent twice is that of no request of another account', async (t) => {
  const turns = ['one', 'other', 'one', 'one', 'other', 'other', 'one', 'other']
  const cases = [1, 4].flatMap((connections) => [1, 2, 5, 10, 20].map((repeatMs) => ({ connections, repeatMs })))
  const check = async ({ connections, repeatMs }: (typeof cases)[0]): Promise<void> => {
    const { send } = await clientOf(t, { responseMs: 40, repeatMs }, connections)
    const received: unknown[] = []
    for (const hash of turns) received.push(await send(hash))
    t.same(received, turns, `${repeatMs} ms later, ${connections} requests at once`)
  }
  await Promise.all(cases.map(check))
})

t.test('a response that is late, because the one before it was sent twice, is that of no other account', async (t) => {
  const { send } = await clientOf(t, { responseMs: 400, repeatMs: 1 }, 4)
  for (const hash of ['one', 'one']) t.equal(await send(hash), hash)
  // The second response has not been received: what seemed to be it was the first one.
  await pause(150)
  t.equal(await send('other'), 'other')
})

t.test('a connection serves another account when it has been idle for 100 ms', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const { send, opened } = await clientOf(t, { responseMs: 0, repeatMs: undefined }, 4)
  await send('one')
  now += 99
  await send('other')
  t.equal(opened(), 2)
  now += 100
  await Promise.all([send('third'), send('fourth')])
  t.equal(opened(), 2)
})

t.test('however many accounts there are, a connection stays idle until it can serve another one', async (t) => {
  let now = 0
  t.intercept(performance, 'now', { value: () => now })
  const { send, opened } = await clientOf(t, { responseMs: 0, repeatMs: undefined }, 1)
  for (const [hash, at] of Object.entries({ one: 0, other: 60, third: 80, fourth: 100 })) {
    now = at
    await send(hash)
  }
  t.equal(opened(), 3, 'the third replaced that of the other')
})

t.test('an account opens as many connections as it has requests at once', async (t) => {
  const { send, opened } = await clientOf(t, { responseMs: 1, repeatMs: undefined }, 4)
  for (let n = 0; n < 20; n += 1) await Promise.all([send('one'), send('one')])
  t.equal(opened(), 2)
})

t.test('requests beyond the connections wait for one, which another account replaces', async (t) => {
  const { send, opened } = await clientOf(t, { responseMs: 1, repeatMs: undefined }, 2)
  const hashes = Array.from({ length: 10 }, (_, n) => `account${n}`)
  t.same(await Promise.all(hashes.map(send)), hashes)
  t.equal(opened(), 10)
})
