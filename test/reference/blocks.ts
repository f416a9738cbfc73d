/** Code blocks of the page or of a Markdown file, run as a reader would paste them. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text as collected } from 'node:stream/consumers'
import { publicUrl } from './committed.js'

export interface Block {
  name: string
  language: string
  code: string
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&amp;': '&' }

export function pageBlocks(html: string): Block[] {
  return [...html.matchAll(/<code id="code-([\w-]+)" data-language="(\w+)">(.*?)<\/code>/gs)].map(
    ([, name = '', language = '', marked = '']) => ({
      name,
      language,
      code: marked.replace(/<[^>]+>/g, '').replace(/&\w+;/g, (entity) => entities[entity] ?? entity),
    }),
  )
}

/** The blocks of the page of a gateway by name, with another address in place of the public one. */
export async function blocksOf(url: string, address = url): Promise<Map<string, Block>> {
  const blocks = pageBlocks(await (await fetch(`${url}/docs`)).text())
  return new Map(
    blocks.map(({ code, ...block }) => [block.name, { ...block, code: code.replaceAll(publicUrl, address) }]),
  )
}

/** The fenced blocks of a Markdown text, named by position. */
export function fencedBlocks(markdown: string): Block[] {
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', code = ''], at) => ({
    name: `block ${at + 1}`,
    language,
    code,
  }))
}

const programs: Record<string, [string, ...string[]]> = {
  shell: ['bash', '-euo', 'pipefail', '-s'],
  javascript: [process.execPath, '--input-type=module', '-'],
  python: ['python3', '-'],
}

/** Runs a block for at most 20 seconds. curl is silent and fails on an error response. */
export async function runBlock({ language, code }: Block): Promise<{ code: number | null; out: string; err: string }> {
  const [program, ...args] = programs[language] as [string, ...string[]]
  const text = language === 'shell' ? code.replace(/^curl /gm, 'curl -sS --fail-with-body ') : code
  const child = spawn(program, args, { timeout: 20_000, env: { PATH: process.env.PATH, HOME: process.env.HOME } })
  child.stdin.end(text)
  const [[exit], out, err] = await Promise.all([once(child, 'close'), collected(child.stdout), collected(child.stderr)])
  return { code: exit, out, err }
}
