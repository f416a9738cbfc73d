/** What the tests of replay share: the committed fixtures, folders of exchanges, and servers. */
import { resolve } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Exchange, Folder, RecordedResponse } from '../../src/replay/exchange.js'

export const fixtures = resolve('fixtures')
export const accounts = ['acme', 'empty', 'failing', 'heritage', 'oddities']

const manifest = { about: 'A test.', email: 'test@example.com', origin: 'invented' } as const
export const folderOf = (exchanges: Exchange[], name = 'test'): Folder => ({ name, manifest, exchanges })
export const exchange = (action: string, query: Record<string, string>, ...responses: RecordedResponse[]): Exchange => {
  return { action, query, responses }
}

/** The API base of an app on a free port, closed with the test. */
export async function listening(t: Test, app: FastifyInstance): Promise<string> {
  t.teardown(() => app.close())
  return `${await app.listen({ host: '127.0.0.1', port: 0 })}/api`
}
