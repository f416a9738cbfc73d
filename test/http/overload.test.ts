/** Load shedding while the event loop is late. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { gateway } from '../helper.js'

/** Blocks the event loop. */
function block(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('an overloaded process rejects requests with 503, while health is still served', async (t) => {
  const { url, metrics } = await gateway(t)
  const { port } = new URL(url)
  const send = async (path: string) => {
    const socket = connect(Number(port), '127.0.0.1')
    await once(socket, 'connect')
    let text = ''
    socket.setEncoding('utf8').on('data', (data: string) => {
      text += data
    })
    socket.write(`GET /api${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer demo\r\nConnection: close\r\n\r\n`)
    return { response: once(socket, 'close').then(() => text) }
  }
  // The second pause fills a sample of its own.
  block(1_600)
  await pause(1)
  block(1_600)
  const [me, health] = await Promise.all([send('/v1/me'), send('/health')])
  t.match(await health.response, /^HTTP\/1\.1 200 /)
  const shed = await me.response
  t.match(shed, /^HTTP\/1\.1 503 /)
  t.match(shed, /\r\nretry-after: 2\r\n/i)
  t.match(shed, /\r\nratelimit-remaining: \d+\r\n/i)
  t.match(shed, /"error":"gateway_error"/)
  t.match(await metrics(), /gateway_shed_total 1\n/)
  while ((await fetch(`${url}/v1/me`, { headers: { authorization: 'Bearer demo' } })).status !== 200) await pause(50)
})
