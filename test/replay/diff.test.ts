/** What a comparison of two gateways sends. */
import type { RequestListener } from 'node:http'
import t from 'tap'
import { platform } from '../helper.js'
import { acme, run } from './started.js'

/** A gateway of which only events are known: so many, the last one with this message. */
const eventsOf =
  (count: number, message: string): RequestListener =>
  ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost')
    const [limit, offset] = ['limit', 'offset'].map((name) => Number(searchParams.get(name)))
    const rows = Array.from({ length: count }, (_, n) => ({ id: count - n, message: n === count - 1 ? message : '' }))
    const data = pathname.endsWith('/events') ? rows.slice(offset, (offset ?? 0) + (limit || 50)) : []
    response.end(JSON.stringify({ data }))
  }

t.test('replay --diff compares all pages of events', async (t) => {
  for (const count of [60, 450]) {
    const [one, two] = await Promise.all(['a', 'b'].map((message) => platform(t, eventsOf(count, message))))
    const { code, text } = await run(t, 'replay', ['--diff', acme, one?.url ?? '', two?.url ?? ''])
    const page = count === 450 ? '&offset=400' : ''
    const place = `/v1/events?limit=200${page}  $.body.data[${(count - 1) % 200}].message: "a" | "b"`
    t.equal(code, 1)
    t.match(text, place)
    t.notMatch(text, `offset=${count === 450 ? 600 : 200}`)
    t.equal((await run(t, 'replay', ['--diff', acme, one?.url ?? '', one?.url ?? ''])).code, 0)
  }
})
