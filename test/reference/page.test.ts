/** The code examples of the page run as pasted, and responses look like its examples. */
import t from 'tap'
import { gateway } from '../helper.js'
import { type Block, blocksOf, runBlock } from './blocks.js'
import { publicUrl } from './committed.js'

const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })
const blocks = await blocksOf(url)

/** The expected output of each block. */
const prints: Record<string, RegExp> = {
  'first-shell': /^\{"object":"list","count":50,"limit":2,/,
  'first-javascript': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'first-python': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'all-events': /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /,
  'since-instant': /^\{"object":"list","count":\d+,"limit":5,/,
  stale: /^\{"object":"location","device_id":1001,/,
  'conditional-javascript': /^50 devices\n(un)?changed\n/,
  'conditional-python': /^50 devices\n(un)?changed\n/,
}
/** `generate` and `typed` in client.test.ts, `rehearse` where errors are rehearsed. */
const elsewhere = ['generate', 'typed', 'rehearse']
const ofRetries = ['back-off-javascript', 'back-off-python']
const ofResponses = ['envelope', 'error-body', 'webhook']

/** The blocks of operations are named by operation and language; prism.test.ts runs them. */
const ofOperation = /^[a-z]+[A-Z]\w+-(\w+)$/

t.test('every block that reads runs as pasted', async (t) => {
  const others = [...blocks.keys()].filter((name) => !ofOperation.test(name))
  const tested = [...Object.keys(prints), ...ofRetries, ...ofResponses, ...elsewhere]
  t.same(others.sort(), tested.sort(), 'every block is tested')
  for (const [name, wanted] of Object.entries(prints)) {
    const { code, out, err } = await runBlock(blocks.get(name) as Block)
    t.equal(code, 0, `${name} succeeds: ${err}`)
    t.match(out, wanted, `${name} prints its result`)
  }
})

t.test('the retry examples wait until the window ends and then succeed', async (t) => {
  const limited = await gateway(t, { env: { PUBLIC_URL: publicUrl, RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_S: '2' } })
  const waiting = await blocksOf(limited.url)
  while ((await limited.get('/v1/me', 'demo')).status !== 429);
  for (const { code, out, err } of await Promise.all(ofRetries.map((name) => runBlock(waiting.get(name) as Block)))) {
    t.equal(code, 0, err)
    t.match(out, /^North depot polygon\n/)
  }
})

t.test('responses look like the examples on the page', async (t) => {
  const list = await get('/v1/events?limit=200&offset=400', 'demo')
  const envelope = JSON.parse(blocks.get('envelope')?.code as string)
  t.same(Object.keys(list.body), Object.keys(envelope))
  t.match(list.body, { object: 'list', limit: envelope.limit, offset: envelope.offset, has_more: envelope.has_more })
  const { docs, ...example } = JSON.parse(blocks.get('error-body')?.code as string)
  t.same((await get('/v1/devices/4711', 'demo')).body, { ...example, docs: docs.replace(url, publicUrl) })
})
