/** What the tests of replay share: the committed fixtures, folders of exchanges, and servers. */
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Exchange, RecordedResponse } from '../../src/replay/exchange.js'
import type { Folder } from '../../src/replay/folder.js'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { buildRecorder } from '../../src/replay/record.js'
import { buildScrub, type Scrub } from '../../src/replay/scrub.js'
import { platform } from '../helper.js'

export const fixtures = resolve('fixtures')
export const accounts = ['acme', 'empty', 'failing', 'heritage', 'oddities']

const manifest = { about: 'A test.', email: 'test@example.com', origin: 'invented' } as const
export const folderOf = (exchanges: Exchange[], name = 'test'): Folder => ({ name, manifest, exchanges })
export const exchange = (action: string, query: Record<string, string>, ...responses: RecordedResponse[]): Exchange => {
  return { action, query, responses }
}

export const pseudonyms = new Pseudonyms('a secret of this test')
export const scrub = buildScrub(pseudonyms)
/** A body as it is recorded. */
export const scrubbed = (json: unknown, by = scrub, action = 'get_devices'): unknown =>
  by(exchange(action, {}, { json })).responses[0]?.json
/** Bodies as they are sent. */
export const unscrubbed: Scrub = ({ responses, ...request }) => {
  return { ...request, responses: responses.map(({ headers, ...response }) => response) }
}

/** The API base of an app on a free port, closed with the test. */
export async function listening(t: Test, app: FastifyInstance): Promise<string> {
  t.teardown(() => app.close())
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`
}

/** GETs an action of a replay or a recorder, as a gateway does. */
export const get = (base: string, action: string, hash = 'any', init: RequestInit = {}): Promise<Response> =>
  fetch(`${base}/${action}${action.includes('?') ? '&' : '?'}lang=en&user_api_hash=${encodeURIComponent(hash)}`, init)

/** The names of its files; none when it does not exist. */
export const filesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])

/** A recorder in front of a platform: its API base, the folder it records into, and what it has logged since the last look. */
export async function recording(t: Test, on: string | Parameters<typeof platform>[1], by = unscrubbed, update = true) {
  const { url, calls } = typeof on === 'string' ? { url: on, calls: [] } : await platform(t, on)
  const folder = join(t.testdir({}), 'account')
  const lines: string[] = []
  const { fingerprint } = pseudonyms
  const recorder = buildRecorder({
    platform: url,
    folder,
    update,
    scrub: by,
    fingerprint,
    log: (line) => lines.push(line),
  })
  const base = await listening(t, recorder.app)
  const send = async (action: string, hash?: string, init?: RequestInit) => {
    const response = await get(base, action, hash, init)
    return { status: response.status, text: await response.text(), lines: lines.splice(0) }
  }
  return { base, url, calls, folder, lines, send, counts: recorder.counts }
}
