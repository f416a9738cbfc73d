/** What the tests of replay share: the committed fixtures, and folders of exchanges. */
import { join } from 'node:path'
import type { Exchange, Folder, RecordedResponse } from '../../src/replay/exchange.js'

const root = process.cwd()
export const fixtures = join(root, 'fixtures')
export const accounts = ['acme', 'empty', 'failing', 'heritage', 'oddities']

const manifest = { about: 'A test.', email: 'test@example.com', origin: 'invented' } as const
export const folderOf = (exchanges: Exchange[], name = 'test'): Folder => ({ name, manifest, exchanges })
export const exchange = (
  action: string,
  query: Record<string, string>,
  ...responses: RecordedResponse[]
): Exchange => ({
  action,
  query,
  responses,
})
