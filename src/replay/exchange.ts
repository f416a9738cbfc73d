/** The fixture format: one recorded request to the platform and its responses, as a file. */
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { type Static, Type } from 'typebox'
import { Compile, Pointer, type Validator } from 'typebox/schema'
import { shown } from './find-leaks.js'
import { linesOf } from './json-lines.js'

export const RecordedResponse = Type.Partial(
  Type.Object({
    status: Type.Integer({ minimum: 200, maximum: 599, description: 'HTTP status; 200 when absent.' }),
    headers: Type.Record(
      Type.String({ pattern: "^[!#-'*+.^`|~\\w-]+$" }),
      Type.String({ pattern: '^[\\t -~\\x80-\\xff]*$' }),
      { additionalProperties: false, description: 'Extra response headers.' },
    ),
    json: Type.Unknown({ description: 'The body, sent as application/json.' }),
    html: Type.String({ description: 'The body, sent as text/html.' }),
    text: Type.String({ description: 'The body, sent byte for byte, as application/json.' }),
    bom: Type.Literal(true, { description: 'A byte order mark precedes the body.' }),
    cut_at: Type.Integer({ minimum: 0, description: 'The body ends after so many bytes, well framed.' }),
    delay_ms: Type.Integer({ minimum: 0, maximum: 2_147_483_647, description: 'Milliseconds before the first byte.' }),
    reset: Type.Enum(['before', 'during'], {
      description: 'The connection is reset before the first byte, or in the middle of the body.',
    }),
  }),
  {
    additionalProperties: false,
    description: 'What the platform sends. At most one of json, html and text; none is an empty body.',
  },
)
export type RecordedResponse = Static<typeof RecordedResponse>

export const Exchange = Type.Object(
  {
    action: Type.String({ pattern: '^(?!account$)[a-z_]+(/[a-z0-9_]+)*$', description: 'Path below the API base.' }),
    query: Type.Record(Type.String({ pattern: '^(?!(lang|user_api_hash)$)' }), Type.String(), {
      additionalProperties: false,
      description: 'The parameters of the request, without lang and user_api_hash. * matches any value.',
    }),
    any: Type.Optional(
      Type.Array(Type.String(), {
        minItems: 1,
        description: 'Further parameters that a request may have, with any value; * means every parameter.',
      }),
    ),
    responses: Type.Array(RecordedResponse, { minItems: 1, description: 'Sent in this order; the last one repeats.' }),
  },
  { additionalProperties: false, title: 'One exchange', description: 'A request to the platform and its responses.' },
)
export type Exchange = Static<typeof Exchange>

const Manifest = Type.Object(
  {
    about: Type.String(),
    email: Type.String({ pattern: '@example\\.com$' }),
    origin: Type.Enum(['invented', 'recorded']),
    /** Of the secret that all of it was recorded with. */
    fingerprint: Type.Optional(Type.String()),
    oddities: Type.Optional(Type.Record(Type.String(), Type.String())),
  },
  { additionalProperties: false },
)
type Manifest = Static<typeof Manifest>

/** The recording of one account: its exchanges in file-name order. */
export type Folder = { name: string; manifest: Manifest; exchanges: Exchange[] }

/** A request to the platform, without credential and language. */
export type PlatformRequest = { action: string; query: Record<string, string> }

const exchangeShape = Compile(Exchange)
const manifestShape = Compile(Manifest)
const manifestFile = 'account.json'
const lineWidth = 120
const ignoredParameters = new Set(['lang', 'user_api_hash'])

/**
 * The request of a target such as `/api/get_events?page=2`; `undefined` when it is not below `/api/`. As in PHP, a repeated `id[]` is
 * a list, here of `id[]`, `id[1]`, …, and of any other repeated parameter the last value counts.
 */
export function parseTarget(target: string): PlatformRequest | undefined {
  const url = new URL(target, 'http://platform')
  if (!url.pathname.startsWith('/api/')) return undefined
  const counts = new Map<string, number>()
  const entries = [...url.searchParams].map(([name, value]) => {
    const at = counts.get(name) ?? 0
    counts.set(name, at + 1)
    return [at > 0 ? name.replace(/\[\]$/, `[${at}]`) : name, value] as const
  })
  const query = Object.fromEntries(entries.filter(([name]) => !ignoredParameters.has(name)))
  return { action: url.pathname.slice('/api/'.length).replace(/(?<!\/)\/+$/, ''), query }
}

/** The name a file must have: the action, then each parameter, percent-encoded. File systems take 255 bytes: a longer one ends in its hash. */
export function fileNameOf({ action, query }: PlatformRequest): string {
  const parts = Object.keys(query)
    .sort()
    .map((name) => `${encode(name)}=${encode(query[name] ?? '')}`)
  const name = [action.replaceAll('/', '.'), ...parts].join('.')
  const digest = (): string => createHash('sha256').update(name).digest('hex').slice(0, 16)
  return `${name.length <= 240 ? name : `${name.slice(0, 200)}~${digest()}`}.json`
}

const encode = (text: string): string => encodeURIComponent(text).replaceAll('*', '%2A')

/** JSON with sorted keys, two spaces, and whatever fits on one line. */
export const format = (value: unknown): string => `${layout(value, '', 0)}\n`

/** @param indent of the line on which the text begins; without it, all is on one line. @param column where it begins there. */
function layout(value: unknown, indent?: string, column = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const isList = Array.isArray(value)
  const entries: [key: string, item: unknown][] = Object.entries(value)
  if (!isList) entries.sort(([a], [b]) => (a < b ? -1 : 1))
  const members = entries.map(([key, item]) => [isList ? '' : `${JSON.stringify(key)}: `, item] as const)
  const [open, gap, close] = isList ? ['[', '', ']'] : ['{', ' ', '}']
  if (members.length === 0) return open + close
  // Without spaces it is shorter: most of what does not fit is found at once, and a list of 10 MB takes half the time.
  if (indent === undefined || (indent !== '' && column + JSON.stringify(value).length < lineWidth)) {
    const flat = open + gap + members.map(([head, item]) => head + layout(item)).join(', ') + gap + close
    if (indent === undefined || column + flat.length < lineWidth) return flat
  }
  const inner = `${indent}  `
  const lines = members.map(([head, item]) => inner + head + layout(item, inner, inner.length + head.length))
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}

/**
 * The exchange in a file's text, whatever its layout and name.
 * @throws Error naming the file and, for each problem, the line, what is expected and what is found.
 */
export function parseExchange(file: string, text: string): Exchange {
  const { value, lines } = parse(file, text, exchangeShape)
  for (const [index, response] of value.responses.entries()) {
    const bodies = (['json', 'html', 'text'] as const).filter((name) => response[name] !== undefined)
    const line = lines.get(`/responses/${index}`)
    if (bodies.length > 1) throw new Error(`${file}: line ${line}: expected one body, found ${bodies.join(' and ')}`)
  }
  return value
}

/** The value of a file, and the line of each value in it. @throws Error as `parseExchange`. */
function parse<T>(file: string, text: string, shape: Validator<object, T>): { value: T; lines: Map<string, number> } {
  const json = text.replace(/^\uFEFF/, '')
  const lines = linesOf(json, file)
  const value: unknown = JSON.parse(json)
  if (shape.Check(value)) return { value, lines }
  const sentences = shape.Errors(value)[1].flatMap(({ keyword, instancePath, params, message }) => {
    // An unknown field has two errors: this one of its parent, and one of its own, whose path has the line.
    if (keyword === 'additionalProperties') return []
    const sent: unknown = Pointer.Get(value, instancePath)
    const found = shown(short(sent), { [instancePath.slice(instancePath.lastIndexOf('/') + 1)]: sent })
    const listed = 'allowedValues' in params ? `must be ${params.allowedValues.join(' or ')}` : message
    const expected = keyword === 'boolean' ? 'must not be here' : listed
    const path = shown(instancePath || '/', { text: instancePath.replaceAll('~1', '/') })
    return [`${file}: line ${lines.get(instancePath)}: ${path} ${expected}, found ${found}`]
  })
  throw new Error(sentences.join('\n'))
}

function short(value: unknown): string {
  const text = layout(value)
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}

/**
 * Reads an account's folder, files in name order.
 * @throws Error naming the first file that is not a valid exchange or has the name of another one, or a manifest that is missing or invalid.
 */
export async function readFolder(path: string): Promise<Folder> {
  const { manifest, files } = await readFiles(path)
  for (const { name, expected } of files) {
    if (name !== expected)
      throw new Error(`${join(path, name)}: expected the name ${expected}, which --format gives it; found ${name}`)
  }
  return { name: basename(resolve(path)), manifest, exchanges: files.map(({ exchange }) => exchange) }
}

/** Rewrites the files of a folder that differ from their canonical layout or name. @returns the new names. @throws Error as `readFolder`. */
export async function formatFolder(path: string): Promise<string[]> {
  const { files } = await readFiles(path)
  for (const [at, { name, expected }] of files.entries()) {
    const other = files.slice(0, at).find((one) => one.expected === expected)
    if (other !== undefined)
      throw new Error(`${join(path, name)}: expected a request of its own, found that of ${other.name}`)
  }
  const changed = files.filter(({ name, expected, text, canonical }) => name !== expected || text !== canonical)
  const kept = new Set(files.map(({ expected }) => expected))
  for (const { expected, canonical } of changed) await replaceFile(join(path, expected), canonical)
  for (const { name } of changed) if (!kept.has(name)) await rm(join(path, name))
  return changed.map(({ expected }) => expected)
}

/** Names the file in an error that does not, such as that of values nested too deep. */
const naming = (file: string) => (error: Error) => {
  throw error.message.includes(file) ? error : new Error(`${file}: ${error.message}`)
}

/** The manifest of a folder; undefined where there is none. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  const file = join(path, manifestFile)
  const read = async () => parse(file, await readFile(file, 'utf8'), manifestShape).value
  return read().catch((error: NodeJS.ErrnoException) =>
    /^(ENOENT|ENOTDIR|EISDIR)$/.test(error.code ?? '') ? undefined : naming(file)(error),
  )
}

async function readFiles(path: string) {
  const manifest = await readManifest(path)
  if (manifest === undefined) throw new Error(`${path} is not a folder with an ${manifestFile}`)
  const entries = (await readdir(path, { withFileTypes: true })).filter((entry) => !entry.isDirectory())
  const names = entries
    .map(({ name }) => name)
    .filter((name) => name.endsWith('.json') && name !== manifestFile)
    .sort()
  const read = async (name: string) => {
    const bytes = await readFile(join(path, name))
    // Its other letters would be lost with `--format`.
    if (!isUtf8(bytes)) throw new Error('expected a file in UTF-8')
    const text = bytes.toString()
    const exchange = parseExchange(join(path, name), text)
    return { name, expected: fileNameOf(exchange), text, canonical: format(exchange), exchange }
  }
  const files = await Promise.all(names.map((name) => read(name).catch(naming(join(path, name)))))
  return { manifest, files }
}

/** Writes an exchange into a folder under its own name; the manifest only where there is none. With a second secret, it loses its fingerprint. */
export async function writeExchange(path: string, exchange: Exchange, manifest: Manifest): Promise<void> {
  await mkdir(path, { recursive: true })
  const file = join(path, manifestFile)
  const stored = await readManifest(path)
  const { fingerprint = manifest.fingerprint, ...others } = stored ?? manifest
  if (stored === undefined) await replaceFile(file, format(manifest))
  else if (fingerprint !== manifest.fingerprint) await replaceFile(file, format(others))
  await replaceFile(join(path, fileNameOf(exchange)), format(exchange))
}

/** A full disk or the end of the process leaves the old file whole. */
async function replaceFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(`${path}.new`, text)
    await rename(`${path}.new`, path)
  } finally {
    await rm(`${path}.new`, { force: true })
  }
}
