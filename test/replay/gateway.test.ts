/** The gateway cannot tell a replay from the platform that was recorded, and stands whatever a recorded platform does to it. */
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { ask, compare, questionsOf, type Reply } from '../../src/replay/diff.js'
import { drift } from '../../src/replay/drift.js'
import { type Exchange, type Folder, readFolder } from '../../src/replay/exchange.js'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { buildRecorder } from '../../src/replay/record.js'
import { buildReplay, hashOf, type Miss } from '../../src/replay/replay.js'
import { buildScrub, type Scrub } from '../../src/replay/scrub.js'
import { Clock, gateway, sandbox } from '../helper.js'

const fixtures = fileURLToPath(new URL('../../fixtures', import.meta.url))
const clock = new Clock(Date.UTC(2026, 2, 14, 9, 30)).now

async function listening(t: Test, app: ReturnType<typeof buildReplay>): Promise<string> {
  t.teardown(() => app.close())
  await app.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api`
}

/** A gateway on a replay of a folder. */
async function replayed(t: Test, folder: Folder) {
  const misses: Miss[] = []
  const platform = await listening(t, buildReplay([folder], { onMiss: (miss) => misses.push(miss) }))
  const { url } = await gateway(t, { env: { PLATFORM_URL: platform, PLATFORM_TIMEOUT_MS: '2000' }, clock })
  return { url, misses }
}

async function answersOf(url: string, questions: readonly string[], credential: string): Promise<Map<string, Reply>> {
  const answers = new Map<string, Reply>()
  for (const question of questions) answers.set(question, await ask(url, question, credential))
  return answers
}

/** Says every difference at once. */
function same(t: Test, left: Map<string, Reply>, right: Map<string, Reply>): void {
  const found = [...left].flatMap(([question, reply]) =>
    compare(reply, right.get(question)).map((difference) => ({ question, ...difference })),
  )
  t.same(found.slice(0, 10), [])
}

/** What is asked besides what any account is asked. */
const extra = (deviceId: number): Exchange[] => [
  {
    action: 'get_history',
    query: { device_id: `${deviceId}`, from_date: '2026-03-12', to_date: '2026-03-13' },
    answers: [{}],
  },
  { action: 'get_events', query: { date_from: '2026-03-13 06:00:00', date_to: '2026-03-13 18:00:00' }, answers: [{}] },
]

t.test('a gateway says the same over a recording as over the platform that was recorded', async (t) => {
  const fleet = await sandbox(t, { clock, devices: 4 })
  const hash = fleet.hashes[0] ?? ''
  const record = async (scrub: Scrub) => {
    const folder = join(t.testdir({}), 'recorded')
    const lines: string[] = []
    const recorder = buildRecorder({
      platform: fleet.url,
      folder,
      update: true,
      scrub,
      say: (line) => lines.push(line),
    })
    const platform = await listening(t, recorder.app)
    const { url } = await gateway(t, { env: { PLATFORM_URL: platform }, clock })
    const manifest = { about: '', email: 'a@example.com', origin: 'recorded' } as const
    const asked: Folder = { name: '', manifest, exchanges: extra(fleet.accounts[0]?.firstDeviceId ?? 0) }
    const questions = await questionsOf(asked, url, hash)
    const answers = await answersOf(url, questions, hash)
    t.same(lines.filter((line) => line.includes('not written')).slice(0, 5), [])
    return { questions, answers, folder: await readFolder(folder) }
  }
  await t.test('word for word, where nothing is scrubbed', async (t) => {
    const { questions, answers, folder } = await record((exchange) => exchange)
    t.ok(questions.length > 40, `${questions.length} questions`)
    t.ok([...answers.values()].filter(({ status }) => status === 200).length > 30)
    const { url, misses } = await replayed(t, folder)
    same(t, answers, await answersOf(url, questions, hash))
    t.same(misses, [])
  })
  await t.test('in shape and number, where all is scrubbed', async (t) => {
    const { questions, answers, folder } = await record(buildScrub(new Pseudonyms('secret')))
    const { url } = await replayed(t, folder)
    const now = await answersOf(url, questions, 'any-hash')
    for (const [question, { status, body }] of answers) {
      const is = now.get(question)
      t.equal(is?.status, status, question)
      const count = (one: unknown) => (one as { count?: number }).count
      t.equal(count(is?.body), count(body), question)
      t.same(drift(body, is?.body), [], question)
    }
  })
})

t.test(
  'every documented question about a recorded account has a recorded answer, and no answer is our failure',
  async (t) => {
    for (const name of ['acme', 'heritage', 'empty', 'oddities']) {
      const folder = await readFolder(join(fixtures, name))
      const one = await replayed(t, folder)
      const questions = await questionsOf(folder, one.url, hashOf(name))
      const answers = await answersOf(one.url, questions, hashOf(name))
      t.same(one.misses.slice(0, 3), [], name)
      const failures = [...answers].filter(([, { status }]) => status >= 500).map(([question]) => question)
      t.same(failures, [], name)
      const other = await replayed(t, folder)
      same(t, answers, await answersOf(other.url, questions, hashOf(name)))
    }
  },
)

t.test('a failing platform is unavailable, forbids or refuses, and is never our own failure', async (t) => {
  const folder = await readFolder(join(fixtures, 'failing'))
  const { url, misses } = await replayed(t, folder)
  const day = 'from=2026-03-13&to=2026-03-13'
  const status = async (question: string) => (await ask(url, question, hashOf('failing'))).status
  t.equal(await status('/v1/me'), 200)
  t.equal(await status('/v1/devices'), 200)
  const refused = [601, 602, 604, 606, 622, 623, 624]
  for (const id of [...refused, 603, 605, 607, 608, 609, 610, 611, 612, 614, 615, 617, 618, 619, 620, 621, 626]) {
    const wanted = refused.includes(id) ? 401 : id === 603 ? 403 : 503
    t.equal(
      await status(`/v1/history/${id}?${day}`),
      wanted,
      folder.manifest.oddities?.[`get_history of device ${id}`] ?? '',
    )
  }
  for (const id of [613, 616]) t.equal(await status(`/v1/history/${id}?${day}`), 200)
  t.same([await status('/v1/events'), await status('/v1/alerts'), await status('/v1/services')], [503, 503, 503])
  t.equal(await status('/v1/geofences'), 403)
  t.equal(await status('/v1/drivers'), 200)
  t.same(misses, [])
})

t.test('two replays of one folder answer identical bytes on every endpoint while the clock stands still', async (t) => {
  for (const name of ['acme', 'oddities', 'failing']) {
    const folder = await readFolder(join(fixtures, name))
    const questions = [
      ...(await questionsOf(folder, (await replayed(t, folder)).url, hashOf(name))),
      '/health',
      '/openapi.json',
    ]
    const bytesOf = async (): Promise<Map<string, string>> => {
      const { url } = await replayed(t, folder)
      const bytes = new Map<string, string>()
      for (const question of questions) {
        const answer = await fetch(`${url}${question}`, { headers: { authorization: `Bearer ${hashOf(name)}` } })
        bytes.set(question, `${answer.status} ${await answer.text()}`)
      }
      return bytes
    }
    const first = await bytesOf()
    const second = await bytesOf()
    t.ok(first.size > 30)
    for (const [question, bytes] of first) t.equal(second.get(question), bytes, `${name} ${question}`)
  }
})
