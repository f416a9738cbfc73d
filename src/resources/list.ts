/** The list envelope, paging, and how a query string is read strictly; knows no noun. */
import { type Static, type TObject, type TSchema, Type } from 'typebox'

/** The envelope of every list (`spec.md`, List envelope) with the paging that was applied. */
export const ListOf = <T extends TSchema>(item: T) =>
  Type.Object(
    {
      object: Type.Literal('list', { type: 'string', description: 'Always `list`' }),
      count: Type.Integer({ minimum: 0, description: 'All items that match the filters, before paging' }),
      limit: Type.Integer({
        minimum: 1,
        description:
          'The limit applied: the one sent, lowered to the maximum, or the default. Lists that answer everything unless asked otherwise show the number of their items here, at least 1.',
      }),
      offset: Type.Integer({ minimum: 0, description: 'Items skipped' }),
      has_more: Type.Boolean({ description: 'Whether items follow after these' }),
      data: Type.Array(item, { description: 'The items' }),
    },
    {
      additionalProperties: false,
      title: `${(item as Annotated).title}List`,
      description: 'The items, with the paging that was applied',
      examples: [
        { object: 'list', count: 1, limit: 50, offset: 0, has_more: false, data: (item as Annotated).examples ?? [] },
      ],
    },
  )

type Annotated = { title?: string; examples?: unknown[] }

/** A list as answered, for any item. */
export type List<T> = {
  object: 'list'
  count: number
  limit: number
  offset: number
  has_more: boolean
  data: T[]
}

/** What part of a list is wanted; no `limit` means everything from `offset` on. */
export type Page = { limit?: number | undefined; offset?: number | undefined }

/** The envelope around items that are a page already. @param count all items, before paging. */
export function envelope<T>(data: T[], count: number, { limit, offset = 0 }: Page): List<T> {
  const applied = limit ?? Math.max(data.length, 1)
  return { object: 'list', count, limit: applied, offset, has_more: offset + data.length < count, data }
}

/** What a page can be cut from. */
export interface Sliceable<T> {
  readonly length: number
  slice(from: number, to: number): T[]
}

/** The envelope around the wanted part of all items. */
export function page<T>(items: Sliceable<T>, { limit, offset = 0 }: Page): List<T> {
  const end = limit === undefined ? items.length : offset + limit
  return envelope(items.slice(offset, end), items.length, { limit, offset })
}

/** Rows as resources, in order; those that make none are counted, never fatal. */
export function translated<Row, T>(
  rows: readonly Row[],
  toX: (row: Row) => T | undefined,
): { items: T[]; skipped: number } {
  const items = rows.map(toX).filter((item) => item !== undefined)
  return { items, skipped: rows.length - items.length }
}

/** Paging parameters of a list that answers at most `max` items, and `default` where no limit is sent. */
export const Paging = ({ default: usual, max }: { default?: number; max: number }) => ({
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: max,
      ...(usual === undefined ? {} : { default: usual }),
      description: `Most items to answer${usual === undefined ? '; without it, all' : ''}. A higher value is lowered to ${max}.`,
    }),
  ),
  offset: Type.Optional(Type.Integer({ minimum: 0, default: 0, description: 'Items to skip' })),
})

/** Query of the lists that answer everything unless asked otherwise. */
export const ListQuery = Type.Object(Paging({ max: 500 }))
export type ListQuery = Static<typeof ListQuery>

/** A query that cannot be read: the parameter, and a sentence for the caller that repeats no input. */
export type BadQuery = { param: string; reason: string }

type Parameter = {
  type?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  enum?: readonly string[]
  default?: unknown
}

/** Integers in digits only; above the maximum they are lowered to it, below the minimum they are refused. */
function integer(rule: Parameter, sent: string): number | undefined {
  if (!/^-?\d+$/.test(sent)) return undefined
  const value = Math.min(Number(sent), rule.maximum ?? Number.POSITIVE_INFINITY)
  return Number.isSafeInteger(value) && value >= (rule.minimum ?? 0) ? value + 0 : undefined
}

function word(rule: Parameter, sent: string): string | undefined {
  const long = sent.length < (rule.minLength ?? 0) || sent.length > (rule.maxLength ?? 100)
  return long || (rule.enum && !rule.enum.includes(sent)) ? undefined : sent
}

function wanted(rule: Parameter): string {
  if (rule.type === 'integer') return `must be an integer of at least ${rule.minimum ?? 0}`
  return rule.enum ? `must be one of ${rule.enum.join(', ')}` : 'must be a text of sensible length'
}

/**
 * Reads a query string by its schema, more strictly than Ajv's coercion would: `1e3`, ` 5`, repeated parameters and
 * integers beyond 2^53 are refused; unknown parameters are ignored; defaults are filled in.
 * @param query names with a string, or an array where a name was repeated.
 */
export function readQuery<T extends TObject>(schema: T, query: unknown): { value: Static<T> } | BadQuery {
  const sent = (typeof query === 'object' && query !== null ? query : {}) as Record<string, unknown>
  const value: Record<string, unknown> = {}
  for (const [param, property] of Object.entries(schema.properties)) {
    const rule = property as Parameter
    const raw = Object.hasOwn(sent, param) ? sent[param] : undefined
    if (raw === undefined) {
      if (rule.default !== undefined) value[param] = rule.default
      else if (schema.required?.includes(param)) return { param, reason: `${param} is required` }
      continue
    }
    if (typeof raw !== 'string') return { param, reason: `${param} may be given once` }
    const read = rule.type === 'integer' ? integer(rule, raw) : word(rule, raw)
    if (read === undefined) return { param, reason: `${param} ${wanted(rule)}` }
    value[param] = read
  }
  return { value: value as Static<T> }
}
