/** The document and the client's types as committed, and how to make them anew. */
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import type { OpenApi } from '../../src/reference/openapi.js'
import { gateway, type Test } from '../helper.js'

/** Stands in the committed document; what is served elsewhere differs in nothing else. */
export const publicUrl = 'https://fleet.example.org/api'
export const documentPath = 'test/reference/openapi.json'
export const typesPath = 'test/reference/types.ts'

/** Set to commit a change on purpose. */
export const isUpdating = process.env.UPDATE_OPENAPI === '1'
export const remedy = 'commit it with: UPDATE_OPENAPI=1 npx tap test/reference'

export async function served(t: Test, env: Record<string, string> = {}): Promise<string> {
  const { url } = await gateway(t, { env: { PUBLIC_URL: publicUrl, ...env } })
  return (await fetch(`${url}/openapi.json`)).text()
}

export const committed = async (): Promise<OpenApi> => JSON.parse(await readFile(documentPath, 'utf8'))

/** Writes a file as the linter wants it. */
export async function write(path: string, text: string): Promise<void> {
  await writeFile(path, await tidied(path, text))
}

/** The text as the linter would have it. */
export function tidied(path: string, text: string): Promise<string> {
  return new Promise((done, failed) => {
    const child = spawn('node_modules/.bin/biome', ['check', '--write', `--stdin-file-path=${path}`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let out = ''
    child.stdout.on('data', (chunk) => {
      out += chunk
    })
    child.once('error', failed)
    child.once('close', () => done(out))
    child.stdin.end(text)
  })
}
