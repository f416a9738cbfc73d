/** The fixture format: every fixture has it, and what is wrong with a file is named with its line. */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { compare } from '../../src/replay/diff.js'
import { Exchange, fileNameOf, format, parseExchange } from '../../src/replay/exchange.js'
import { findLeaks } from '../../src/replay/find-leaks.js'
import { formatFolder, readFolder } from '../../src/replay/folder.js'
import { jsonIn, linesOf } from '../../src/replay/json-lines.js'
import { hashOf } from '../../src/replay/replay.js'
import { someHash } from '../helper.js'
import { accounts, exchange, fixtures } from './folders.js'
import { run } from './started.js'

t.test('the committed schema is the one the program validates with', async (t) => {
  const { $schema, ...committed } = JSON.parse(await readFile(join(fixtures, 'exchange.schema.json'), 'utf8'))
  t.equal($schema, 'https://json-schema.org/draft/2020-12/schema')
  t.same(committed, JSON.parse(JSON.stringify(Exchange)))
})

t.test('every fixture is valid, canonical, correctly named and without a leak', async (t) => {
  const folders = (await readdir(fixtures, { withFileTypes: true })).filter((entry) => entry.isDirectory())
  t.same(folders.map(({ name }) => name).sort(), accounts)
  for (const name of accounts) {
    const folder = await readFolder(join(fixtures, name))
    t.ok(folder.exchanges.length > 5, `${name} has exchanges`)
    for (const one of folder.exchanges) {
      const text = await readFile(join(fixtures, name, fileNameOf(one)), 'utf8')
      t.equal(text, format(one))
      t.same(findLeaks(one, [hashOf(name)]), [], `${name}/${fileNameOf(one)}`)
    }
  }
})

t.test('every known variation of the platform has a fixture', async (t) => {
  const { oddities = {} } = (await readFolder(join(fixtures, 'oddities'))).manifest
  const names = Array.from({ length: 65 }, (_, n) => `N${String(n + 1).padStart(2, '0')}`)
  t.same(Object.keys(oddities).sort(), names)
})

t.test('what is wrong with a file is told with line, expected and found', async (t) => {
  const withResponse = (text: string) => `{"action": "x", "query": {}, "responses": [${text}]}`
  const cases: [text: string, message: RegExp][] = [
    ['{\n  "action": "x"\n  "query": {}\n}', /line 3: expected , or }, found "query"/],
    ['{\n  "action": nothing\n}', /line 2: expected a value, found nothing/],
    ['{\n  "x" "a@example.org"\n}', /line 2: expected :, found a credential or personal data$/],
    ['{\n  action: 1\n}', /line 2: expected a name in double quotes, found action/],
    ['[1,\n2', /line 2: expected , or \], found the end of the file/],
    ['{ "action": "x",\n"action": "y"}', /line 2: expected each name once, found "y"/],
    ['{}\n{}', /line 2: expected the end of the file, found \{/],
    ['{\n"action": "../x",\n"query": {}, "responses": [{}] }', /line 2: \/action must match .*, found "\.\.\/x"/],
    [withResponse('{ "status":\n"ok" }'), /line 2: \/responses\/0\/status must be integer, found "ok"/],
    [withResponse('{ "reset":\n"never" }'), /line 2: \/responses\/0\/reset must be before or during, found "never"$/],
    [withResponse('\n{ "json": 1, "html": "" }'), /line 2: expected one body, found json/],
    ['{"action": "x", "query": {"a/b~c":\n3}, "responses": [{}]}', /line 2: \/query\/a~1b~0c must be string, found 3$/],
    [
      '{"action": "x", "responses": [{}],\n"query": {"lang": "en", "user_api_hash": "x"}}',
      /\/query\/lang must not be here, found "en"\nx\.json: line 2: \/query\/user_api_hash must not be here, found a credential/,
    ],
    [
      `{"action": "x", "query": {"${hashOf('one')}":\n3}, "responses": [{}]}`,
      /line 2: a credential or personal data must be/,
    ],
    [withResponse('{ "headers": {\n"bad name": "5"}}'), /line 2: .*\/bad name must not be here, found "5"$/],
    [withResponse('{ "headers": {"retry-after":\n"5\\n6"}}'), /line 2: .*\/retry-after must match .*, found "5\\n6"$/],
    ['{\n"action": "account", "query": {}, "responses": [{}]}', /line 2: \/action must match /],
    [withResponse('{ "delay_ms":\n3000000000}'), /line 2: .*\/delay_ms must be <= 2147483647/],
    ...[
      ...['12345678901234567890', '-9007199254740993', '1e400', '1e-400', '12345678901234567890.5'],
      ...['0.12345678901234567890', '1.2345678901234567890e19', '-0.30000000000000001'],
    ].map((number): (typeof cases)[number] => [
      withResponse(`{ "json":\n${number}}`),
      new RegExp(`line 2: expected a number that JavaScript can hold, or the body as \`text\`, found ${number}$`),
    ]),
    ['{\n\u00a0"action": "x"}', /line 2: expected a name in double quotes, found U\+00a0$/],
    ['\uFEFF\uFEFF{}', /line 1: expected a value, found U\+feff$/],
    [withResponse('{}],\n"hash": [1'), /^x\.json: line 2: \/hash must not be here, found \[1\]$/],
  ]
  for (const [text, message] of cases) t.throws(() => parseExchange('x.json', text), { message })
  for (const number of ['41.399999999999999', '-0.10000000000000001', '1.50e2'])
    t.same(parseExchange('x.json', withResponse(`{ "json": ${number}}`)).responses, [{ json: Number(number) }], number)
  const account = '{ "about": "A test.",\n "email": "a@example.org", "origin": "invented" }'
  const folder = t.testdir({ 'account.json': account })
  const message = /^[^:]*account\.json: line 2: \/email must match .*, found a credential or personal data$/
  await t.rejects(readFolder(folder), { message })
  await t.rejects(readFolder(t.testdir({ 'account.json': {} })), { message: /is not a folder with an account\.json$/ })
})

t.test('a number may be written in any way that keeps its value', async (t) => {
  const numbers = '[0, -0, 0.0, 0e999, 100, 1.50, -1.50e+3, 0.1E-7, 1e21, 100000000000000000000, 0.30000000000000004]'
  const text = `{"action": "x", "query": {}, "responses": [{"json": ${numbers}}]}`
  t.same(parseExchange('x.json', text).responses, [{ json: JSON.parse(numbers) }])
})

const manifest = '{"about": "One.", "email": "a@example.com", "origin": "invented"}'

t.test('an error without a line names the file', async (t) => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
  const tooDeep = 'Maximum call stack size exceeded'
  const cases: [name: string, text: string, what: string][] = [
    ['account.json', deep(20_000), tooDeep],
    ['x.json', deep(20_000), tooDeep],
    // It can be read, but not laid out.
    ['x.json', `{"action": "x", "query": {}, "responses": [{"json": ${deep(4_000)}}]}`, tooDeep],
    ['x.json', '{"action": "x", "query": {"a": "\\ud800"}, "responses": [{}]}', 'URI malformed'],
  ]
  for (const [name, text, what] of cases) {
    const folder = t.testdir({ 'account.json': manifest, [name]: text })
    await t.rejects(formatFolder(folder), { message: `${join(folder, name)}: ${what}` })
  }
})

t.test('every JSON text has a line for each value, and any other text is an error', async () => {
  const hasLines = (text: string): boolean => {
    try {
      return linesOf(text, 'x.json').size > 0
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', ' 1', '\u00a0', '\uFEFF'), (json, at, text) => {
      const place = at % (json.length + 1)
      const mutated = json.slice(0, place) + text + json.slice(place)
      return hasLines(mutated) === (jsonIn(mutated) !== undefined)
    }),
  )
})

t.test('a file in another layout is read, and --format gives it the canonical layout and name', async (t) => {
  // With byte order marks, and beside a folder.
  const folder = t.testdir({
    'account.json': '\uFEFF{"about": "One.", "email": "a@example.com", "origin": "invented"}',
    'get_events.page=2.json': '\uFEFF{"responses": [{"json": []}],\n\n"query": {"page": "2"}, "action": "get_events"}',
    'older.json': {},
  })
  const good = exchange('get_events', { page: '2' }, { json: [] })
  t.same((await readFolder(folder)).exchanges, [good])
  await rename(join(folder, 'get_events.page=2.json'), join(folder, 'mine.json'))
  await t.rejects(readFolder(folder), { message: /mine\.json: expected the name get_events\.page=2\.json/ })
  t.same(await formatFolder(folder), ['get_events.page=2.json'])
  t.equal(await readFile(join(folder, 'get_events.page=2.json'), 'utf8'), format(good))
  t.same((await readdir(folder)).sort(), ['account.json', 'get_events.page=2.json', 'older.json'])
  t.same(await formatFolder(folder), [], 'a second time changes nothing')
  const next = exchange('get_events', { page: '3' }, { json: [] })
  await writeFile(join(folder, 'get_events.page=2.json'), format(next))
  await writeFile(join(folder, 'get_events.page=3.json'), format(good))
  t.same(await formatFolder(folder), ['get_events.page=3.json', 'get_events.page=2.json'], 'names are swapped')
  t.same((await readFolder(folder)).exchanges, [good, next])
  await rm(join(folder, 'get_events.page=3.json'))
  await writeFile(join(folder, 'copy.json'), format(good))
  await t.rejects(formatFolder(folder), { message: /get_events\.page=2\.json: .* found that of copy\.json/ })
  t.equal((await readdir(folder)).length, 4, 'neither is lost')
})

t.test('--format refuses a file in another encoding, whose letters it would replace', async (t) => {
  const sent = exchange('x', {}, { json: 'Müller' })
  const folder = t.testdir({ 'account.json': manifest, 'x.json': Buffer.from(JSON.stringify(sent), 'latin1') })
  await t.rejects(formatFolder(folder), { message: /x\.json: expected a file in UTF-8$/ })
})

t.test('replay --format warns of each credential in a file, and does not show its value', async (t) => {
  const account = { about: 'One.', email: 'a@example.com', origin: 'invented' }
  const leaking = exchange('get_sensors', {}, { json: { user_api_hash: someHash } })
  const folder = t.testdir({ 'account.json': JSON.stringify(account), 'mine.json': JSON.stringify(leaking) })
  const { code, text } = await run(t, 'replay', ['--format', folder])
  t.match(
    { code, text },
    { code: 0, text: /warning: .*get_sensors\.json: \$\.responses\[0\]\.json\.user_api_hash: a password hash/ },
  )
  t.notOk(text.includes(someHash))
  await writeFile(join(folder, 'account.json'), JSON.stringify({ ...account, about: 'The fleet of ops@fleet.test.' }))
  const again = await run(t, 'replay', ['--format', folder])
  t.match(again.text, /warning: .*account\.json: \$\.about: an e-mail address outside example\.com/)
})

t.test('the canonical layout keeps every JSON value', async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const read = JSON.parse(format(value))
      return compare(read, JSON.parse(JSON.stringify(value))).length === 0 && format(read) === format(value)
    }),
  )
})
