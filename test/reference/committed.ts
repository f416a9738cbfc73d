/** The committed document and client types, and how to update them. */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import type { OpenApi } from '../../src/reference/document.js'

/** The URL in the committed document. */
export const publicUrl = 'https://fleet.example.org/api'
export const documentPath = 'test/reference/openapi.json'
export const typesPath = 'test/reference/types.ts'

export const isUpdating = process.env.UPDATE_OPENAPI === '1'
export const remedy = 'commit it with: UPDATE_OPENAPI=1 npm test -- test/reference/*.test.ts'

export const committed = async (): Promise<OpenApi> => JSON.parse(await readFile(documentPath, 'utf8'))

/** Writes a file in the linter's format. */
export async function write(path: string, content: string): Promise<void> {
  await writeFile(path, await tidied(path, content))
}

/** The text in the linter's format. */
export async function tidied(path: string, content: string): Promise<string> {
  const child = spawn('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${path}`])
  child.stdin.end(content)
  return text(child.stdout)
}
