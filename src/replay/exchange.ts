/** The fixture format: one recorded request to the platform and its responses, as a file. */
import { createHash } from 'node:crypto'
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

/** A request to the platform, without credential and language. */
export type PlatformRequest = { action: string; query: Record<string, string> }

const exchangeShape = Compile(Exchange)
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
export function parse<T>(
  file: string,
  text: string,
  shape: Validator<object, T>,
): { value: T; lines: Map<string, number> } {
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
