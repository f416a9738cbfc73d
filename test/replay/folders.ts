/** What the tests of replay share: the committed fixtures, folders of exchanges, and servers. */
import { join, resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Exchange, Folder, RecordedResponse } from '../../src/replay/exchange.js'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { buildRecorder } from '../../src/replay/record.js'
import { buildScrub, type Scrub } from '../../src/replay/scrub.js'

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
export const scrubbed = (json: unknown, by = scrub): unknown =>
  by(exchange('get_devices', {}, { json })).responses[0]?.json
/** Bodies as they are sent. */
export const unscrubbed: Scrub = ({ responses, ...request }) => {
  return { ...request, responses: responses.map(({ headers, ...response }) => response) }
}

/** The API base of an app on a free port, closed with the test. */
export async function listening(t: Test, app: FastifyInstance): Promise<string> {
  t.teardown(() => app.close())
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`
}

/** A recorder in front of a platform: its API base, the folder it records into and its log. */
export async function recording(t: Test, platform: string, by = unscrubbed, update = true) {
  const folder = join(t.testdir({}), 'account')
  const lines: string[] = []
  const { fingerprint } = pseudonyms
  const recorder = buildRecorder({ platform, folder, update, scrub: by, fingerprint, log: (line) => lines.push(line) })
  return { base: await listening(t, recorder.app), folder, lines, recorder }
}
