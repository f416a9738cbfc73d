/** The code examples of the page run as pasted, and responses look like its examples. */
import t from 'tap'
import { gateway, sandbox } from '../helper.js'
import { type Block, pageBlocks, runBlock } from './blocks.js'

const publicUrl = 'https://fleet.example.org/api'

async function blocksOf(url: string): Promise<Map<string, Block>> {
  const html = await (await fetch(`${url}/docs`)).text()
  return new Map(
    pageBlocks(html).map(({ code, ...block }) => [block.name, { ...block, code: code.replaceAll(publicUrl, url) }]),
  )
}

/** The expected output of each block. */
const prints: Record<string, RegExp> = {
  'first-curl': /^\{"object":"list","count":50,"limit":2,/,
  'first-javascript': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'first-python': /^\d+ moving\n.* \d+(\.\d+)? km\/h at -?\d+\.\d+ -?\d+\.\d+/,
  'all-events': /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /,
  'stale-if-error': /^\{"object":"list","count":50,"limit":3,/,
  'since-instant': /^\{"object":"list","count":\d+,"limit":5,/,
  'back-off-javascript': /^North depot polygon\n/,
  'back-off-python': /^North depot polygon\n/,
}
const ofKeys = ['create-key', 'list-keys', 'revoke-key']
const ofResponses = ['envelope', 'error-body']

t.test('every block that reads runs as pasted', async (t) => {
  const { url } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })
  const blocks = await blocksOf(url)
  t.same([...blocks.keys()].sort(), [...Object.keys(prints), ...ofKeys, ...ofResponses].sort(), 'every block is tested')
  for (const [name, wanted] of Object.entries(prints)) {
    const { code, out, err } = await runBlock(blocks.get(name) as Block)
    t.equal(code, 0, `${name} succeeds: ${err}`)
    t.match(out, wanted, `${name} prints its result`)
  }
})

t.test('the blocks create, list and revoke a key as pasted', async (t) => {
  const platform = await sandbox(t)
  const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl, PLATFORM_URL: platform.url } })
  const blocks = await blocksOf(url)
  const filled = (name: string, id = ''): Block => {
    const block = blocks.get(name) as Block
    const code = block.code.replaceAll('<PLATFORM_HASH>', platform.hashes[0] as string).replaceAll('<KEY_ID>', id)
    return { ...block, code }
  }
  const created = JSON.parse((await runBlock(filled('create-key'))).out)
  t.equal((await get('/v1/devices', created.key)).status, 200)
  const listed = JSON.parse((await runBlock(filled('list-keys'))).out)
  t.equal(listed.data[0].id, created.id)
  const revoked = JSON.parse((await runBlock(filled('revoke-key', created.id))).out)
  t.equal(revoked.deleted, true)
  t.equal((await get('/v1/devices', created.key)).status, 401)
})

t.test('the retry examples wait until the window ends and then succeed', async (t) => {
  const env = { PUBLIC_URL: publicUrl, RATE_LIMIT_MAX: '2', RATE_LIMIT_WINDOW_S: '2' }
  for (const name of ['back-off-javascript', 'back-off-python']) {
    const { url, get } = await gateway(t, { env })
    const block = (await blocksOf(url)).get(name) as Block
    while ((await get('/v1/me', 'demo')).status !== 429);
    const { code, out, err } = await runBlock(block)
    t.equal(code, 0, `${name}: ${err}`)
    t.match(out, /^North depot polygon\n/)
  }
})

t.test('responses look like the examples on the page', async (t) => {
  const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })
  const html = await (await fetch(`${url}/docs`)).text()
  const shown = new Map(pageBlocks(html).map(({ name, code }) => [name, code]))
  const list = await get('/v1/events?limit=200&offset=400', 'demo')
  const envelope = JSON.parse(shown.get('envelope') as string)
  t.same(Object.keys(list.body), Object.keys(envelope))
  t.match(list.body, { object: 'list', limit: envelope.limit, offset: envelope.offset, has_more: envelope.has_more })
  t.same((await get('/v1/devices/4711', 'demo')).body, JSON.parse(shown.get('error-body') as string))
})
