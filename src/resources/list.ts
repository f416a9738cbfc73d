/** The list envelope, paging, and strict parsing of query strings. */
import type { ParsedUrlQuery } from 'node:querystring'
import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { field, Integer, ObjectName } from './schema.js'
import { id } from './units.js'

type Annotated = { title?: string; examples?: unknown[] }

/** The applied paging, part of every list. */
export const paging = {
  count: field.count('Number of items that match the filters, before paging'),
  limit: field.count(
    'The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.',
  ),
  offset: field.count('Number of skipped items'),
  has_more: field.flag('Whether more items follow'),
}

/** The envelope of every list (spec.md, List envelope) with the applied paging. @param limit of the example, which is a whole list. */
export const ListOf = <T extends TSchema>(item: T, limit = 1) => {
  const { title, examples = [] } = item as Annotated
  return Type.Object(
    { object: ObjectName('list'), ...paging, data: Type.Array(item, { description: 'The items' }) },
    {
      additionalProperties: false,
      title: `${title}List`,
      description: 'The items, with the applied paging',
      examples: [{ object: 'list', count: 1, limit, offset: 0, has_more: false, data: examples }],
    },
  )
}

/** The value of the envelope, for any item. */
export type List<T> = Omit<Static<ReturnType<typeof ListOf>>, 'data'> & { data: T[] }

/** The requested part of a list; without a `limit`, everything from `offset` on. */
export type Page = { limit?: number | undefined; offset?: number | undefined }

/** The envelope of items that are one page already. @param count number of all items, before paging, also of those left out as invalid. */
export function envelope<T>(data: T[], count: number, { limit, offset = 0 }: Page): List<T> {
  const applied = limit ?? data.length
  return { object: 'list', count, limit: applied, offset, has_more: offset + applied < count, data }
}

/** A sequence that `page` can slice. */
export type Sliceable<T> = Pick<readonly T[], 'length' | 'slice'>

/** The envelope of the requested part of all items. */
export function page<T>(items: Sliceable<T>, { limit, offset = 0 }: Page): List<T> {
  const end = limit === undefined ? items.length : offset + limit
  return envelope(items.slice(offset, end), items.length, { limit, offset })
}

/**
 * The parameters `limit` and `offset` (spec.md, Limits).
 * @param omitted what `limit` is without one. A number is a default, which the console and generated code send.
 */
export const Paging = ({ omitted = 'all', max }: { omitted?: number | string; max: number }) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: max,
      ...(typeof omitted === 'number' && { default: omitted }),
      description: `Maximum number of items${typeof omitted === 'number' ? '' : `; ${omitted} if omitted`}. A value above ${max} is lowered to ${max}.`,
    }),
  ),
  offset: Type.Optional(Integer({ minimum: 0, default: 0, description: 'Number of items to skip' })),
})

/** The query of a list that returns all items by default. */
export const ListQuery = Type.Object(Paging({ max: 500 }))

/** A parameter of ids, separated by commas or repeated. */
export const Ids = (max: number, description: string) =>
  Type.Array(Integer({ minimum: 1 }), {
    minItems: 1,
    maxItems: max,
    description: `${description}: at most ${max} ids, separated by commas`,
    style: 'form',
    explode: false,
  })

/** An invalid query: the parameter, and what it must be, which does not repeat the input. */
type BadQuery = { param: string; expected: string }

/** As much of a parameter's schema as parsing it needs. */
export type Parameter = {
  type?: string
  maxItems?: number
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  enum?: readonly string[]
}

/** Digits only. A value above the maximum is lowered to it; one below the minimum is invalid. */
function integer({ minimum = 0, maximum = Number.POSITIVE_INFINITY }: Parameter, sent: string): number | undefined {
  if (!/^-?\d+$/.test(sent)) return undefined
  const value = Math.min(Number(sent), maximum)
  return Number.isSafeInteger(value) && value >= minimum ? value : undefined
}

function word({ minLength = 0, maxLength = 100, enum: words }: Parameter, sent: string): string | undefined {
  const fits = sent.length >= minLength && sent.length <= maxLength
  return fits && (words?.includes(sent) ?? true) ? sent : undefined
}

/** The ids in ascending order, each once. */
function ids({ maxItems = Number.POSITIVE_INFINITY }: Parameter, sent: string): number[] | undefined {
  const found = sent.split(',').map(id)
  if (found.length > maxItems || found.includes(undefined)) return undefined
  return [...new Set(found as number[])].sort((a, b) => a - b)
}

/** What a parameter must be, for the caller. */
export function requirement({ type, maxItems, enum: words, ...range }: Parameter): string {
  const { minimum = 0, minLength = 0, maxLength = 100 } = range
  if (type === 'integer') return `must be an integer of at least ${minimum}`
  if (type === 'array') return `must be 1 to ${maxItems} ids, separated by commas`
  return words
    ? `must be one of ${words.join(', ')}`
    : `must be text of ${Math.max(minLength, 1)} to ${maxLength} characters`
}

const parsers: Record<string, (rule: Parameter, sent: string) => unknown> = { integer, array: ids }

/** A list that is sent once or repeated, also as `ids[]=1` or `ids[0]=1`, as many clients do by default. */
function listIn(sent: ParsedUrlQuery, param: string): string | undefined {
  const values = Object.keys(sent).flatMap((name) => (name.replace(/\[\d*\]$/, '') === param ? (sent[name] ?? []) : []))
  return values.length > 0 ? values.join() : undefined
}

/**
 * Reads a parsed query string by its schema, more strictly than Ajv's coercion: `1e3`, ` 5`, repeated parameters and
 * integers beyond 2^53 without a maximum are invalid; a list of ids may be repeated. Unknown parameters are ignored.
 */
export function readQuery<T extends TObject>(schema: T, sent: ParsedUrlQuery): { value: Static<T> } | BadQuery {
  const value: Record<string, unknown> = {}
  for (const [param, property] of Object.entries(schema.properties)) {
    const rule = property as Parameter
    const raw = rule.type === 'array' ? listIn(sent, param) : sent[param]
    if (raw === undefined && schema.required?.includes(param)) return { param, expected: 'is required' }
    if (raw === undefined) continue
    if (typeof raw !== 'string') return { param, expected: 'must not be repeated' }
    const parsed = (parsers[rule.type ?? ''] ?? word)(rule, raw)
    if (parsed === undefined) return { param, expected: requirement(rule) }
    value[param] = parsed
  }
  return { value: value as Static<T> }
}
