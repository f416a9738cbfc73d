/** One recorded request and its answers: the file format, its names, reading and writing. Knows no HTTP and no gateway. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { type Static, Type } from 'typebox'
import { Compile } from 'typebox/compile'

export const Answer = Type.Object(
  {
    status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599, description: 'HTTP status; 200 when absent.' })),
    headers: Type.Optional(Type.Record(Type.String(), Type.String(), { description: 'Extra response headers.' })),
    json: Type.Optional(Type.Unknown({ description: 'The body, sent as application/json.' })),
    html: Type.Optional(Type.String({ description: 'The body, sent as text/html.' })),
    text: Type.Optional(Type.String({ description: 'The body byte for byte, sent as application/json all the same.' })),
    bom: Type.Optional(Type.Literal(true, { description: 'A byte order mark stands before the body.' })),
    cut_at: Type.Optional(Type.Integer({ minimum: 0, description: 'The body ends after so many bytes, well framed.' })),
    delay_ms: Type.Optional(Type.Integer({ minimum: 0, description: 'Milliseconds before the first byte.' })),
    reset: Type.Optional(
      Type.Union([Type.Literal('before'), Type.Literal('during')], {
        description: 'The connection is reset before the first byte, or in the middle of the body.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'What the platform sends. At most one of json, html and text; none is an empty body.',
  },
)
export type Answer = Static<typeof Answer>

export const Exchange = Type.Object(
  {
    action: Type.String({ pattern: '^[a-z_]+(/[a-z0-9_]+)*$', description: 'The path below the API base.' }),
    query: Type.Record(Type.String(), Type.String(), {
      description: 'The parameters that distinguish this call; all others are ignored. * stands for any value.',
    }),
    answers: Type.Array(Answer, { minItems: 1, description: 'Given in this order; the last one repeats.' }),
  },
  {
    additionalProperties: false,
    title: 'One exchange',
    description: 'A question to the tracking platform and its answers.',
  },
)
export type Exchange = Static<typeof Exchange>

/** What `account.json` says of a folder. */
const Manifest = Type.Object(
  {
    about: Type.String(),
    email: Type.String({ pattern: '@example\\.com$' }),
    origin: Type.Union([Type.Literal('invented'), Type.Literal('recorded')]),
    oddities: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)
type Manifest = Static<typeof Manifest>

/** One account: its exchanges in file-name order. */
export type Folder = { name: string; manifest: Manifest; exchanges: Exchange[] }

/** What a client asks: an action and its query, without the credential and the language. */
export type Question = { action: string; query: Record<string, string> }

const exchangeShape = Compile(Exchange)
const manifestShape = Compile(Manifest)
const manifestFile = 'account.json'
const lineWidth = 120

/** Parameters that never distinguish one call from another. */
const ignored = new Set(['lang', 'user_api_hash'])

/** The question in a request target such as `/api/get_events?page=2`; `undefined` when it is not below `/api/`. */
export function questionOf(target: string): Question | undefined {
  const url = new URL(target, 'http://platform')
  if (!url.pathname.startsWith('/api/')) return undefined
  const query = Object.fromEntries([...url.searchParams].filter(([name]) => !ignored.has(name)))
  return { action: url.pathname.slice('/api/'.length).replace(/(?<!\/)\/+$/, ''), query }
}

/** The name a file must have: the action, then each distinguishing parameter, in a form every file system takes. */
export function fileNameOf({ action, query }: Question): string {
  const parts = Object.keys(query)
    .sort()
    .map((name) => `${encode(name)}=${encode(query[name] ?? '')}`)
  return `${[action.replaceAll('/', '.'), ...parts].join('.')}.json`
}

const encode = (text: string): string => encodeURIComponent(text).replaceAll('*', '%2A')

/** JSON with sorted keys, two spaces, and on one line whatever fits: the only spelling a fixture may have. */
export function format(value: unknown): string {
  return `${layout(value, '', 0)}\n`
}

function layout(value: unknown, indent: string, column: number): string {
  const flat = inline(value)
  const inner = `${indent}  `
  const small = indent !== '' && column + flat.length < lineWidth
  if (small || typeof value !== 'object' || value === null || flat.length === 2) return flat
  const lines = Array.isArray(value)
    ? value.map((item) => inner + layout(item, inner, inner.length))
    : entriesOf(value).map(([key, item]) => {
        const head = `${inner}${JSON.stringify(key)}: `
        return head + layout(item, inner, head.length)
      })
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

function inline(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const body = entriesOf(value).map(([key, item]) => `${JSON.stringify(key)}: ${inline(item)}`)
  return body.length === 0 ? '{}' : `{ ${body.join(', ')} }`
}

const entriesOf = (value: object): [string, unknown][] =>
  Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))

/**
 * The exchange in a file's text.
 * @throws Error naming the file and everything that is wrong with it, also with its name or spelling.
 */
export function parseExchange(file: string, text: string): Exchange {
  const value: unknown = JSON.parse(text)
  if (!exchangeShape.Check(value)) {
    const problems = exchangeShape.Errors(value).map((error) => `${error.instancePath || '/'} ${error.message}`)
    throw new Error(`${file}: ${problems.join('; ')}`)
  }
  for (const answer of value.answers) {
    const bodies = [answer.json, answer.html, answer.text].filter((body) => body !== undefined)
    if (bodies.length > 1) throw new Error(`${file}: an answer has more than one of json, html and text`)
  }
  const name = fileNameOf(value)
  if (basename(file) !== name) throw new Error(`${file}: by its contents its name is ${name}`)
  if (format(value) !== text)
    throw new Error(`${file}: keys are not sorted or the layout differs from the canonical one`)
  return value
}

/**
 * Reads an account's folder, files in name order.
 * @throws Error naming the first file that is not a valid exchange, or a manifest that is missing or wrong.
 */
export async function readFolder(path: string): Promise<Folder> {
  const names = (await readdir(path)).filter((name) => name.endsWith('.json') && name !== manifestFile).sort()
  const manifest: unknown = JSON.parse(await readFile(join(path, manifestFile), 'utf8'))
  if (!manifestShape.Check(manifest))
    throw new Error(`${join(path, manifestFile)}: not a manifest, see fixtures/README.md`)
  const exchanges = await Promise.all(
    names.map(async (name) => parseExchange(join(path, name), await readFile(join(path, name), 'utf8'))),
  )
  return { name: basename(path), manifest, exchanges }
}

/** Writes exchanges into a folder, each under its own name; the manifest is written only where there is none. */
export async function writeFolder(path: string, exchanges: readonly Exchange[], manifest: Manifest): Promise<void> {
  await mkdir(path, { recursive: true })
  await writeFile(join(path, manifestFile), format(manifest), { flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  for (const exchange of exchanges) await writeFile(join(path, fileNameOf(exchange)), format(exchange))
}
