/** The code examples of the page run as pasted, and responses look like its examples. */
import t from 'tap'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { createKey } from '../limits.js'
import { type Block, pageBlocks, runBlock } from './blocks.js'

const publicUrl = 'https://fleet.example.org/api'

async function blocksOf(url: string): Promise<Map<string, Block>> {
  const html = await (await fetch(`${url}/docs`)).text()
  return new Map(
    pageBlocks(html).map(({ code, ...block }) => [block.name, { ...block, code: code.replaceAll(publicUrl, url) }]),
  )
}

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

/** The blocks of operations are named by operation and language. */
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

const printJson: Record<'javascript' | 'python', [shown: string, printed: string]> = {
  javascript: ['response.status, await response.json()', 'JSON.stringify(await response.json())'],
  python: ['response.status, json.load(response)', 'json.dumps(json.load(response))'],
}

/** The blocks of one language as one program, which prints a line for each: a process for each would take long. */
const joined: Record<string, (codes: string[]) => string> = {
  shell: (codes) => codes.map((code) => `${code}\necho\n`).join(''),
  javascript: (codes) => codes.map((code) => `{\n${code.replace(...printJson.javascript)}\n}\n`).join(''),
  python: (codes) => codes.map((code) => `${code.replace(...printJson.python)}\n`).join(''),
}

t.test('the code of every operation runs in three languages and returns what the page shows', async (t) => {
  const operations = [...blocks.keys()].filter((name) => name.endsWith('-response')).map((name) => name.split('-')[0])
  const hash = sandboxAccounts()[0]?.hash as string
  for (const [language, join] of Object.entries(joined)) {
    const { body: key } = await createKey(get, { platform_hash: hash })
    const codes = operations.map((operation) =>
      (blocks.get(`${operation}-${language}`) as Block).code
        .replaceAll('<PLATFORM_HASH>', hash)
        .replace(/keys\/[\w-]{36}/, `keys/${key.id}`),
    )
    const { code, out, err } = await runBlock({ name: language, language, code: join(codes) })
    t.equal(code, 0, `${language}: ${err}`)
    const lines = out.trim().split('\n')
    t.equal(lines.length, operations.length, 'one response for each operation')
    for (const [at, operation] of operations.entries()) {
      const shown = JSON.parse(blocks.get(`${operation}-response`)?.code as string)
      t.same(Object.keys(JSON.parse(lines[at] as string)), Object.keys(shown), `${operation} in ${language}`)
    }
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
