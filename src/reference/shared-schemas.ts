/** Moves every object schema with a title to `components.schemas`, so that the document contains each schema once. Pure. */
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject, Schema } from './openapi.js'

/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * The value with every titled object as a reference, and these objects by title.
 * Examples of such objects are dropped: each operation shows its own. So is `additionalProperties: false`, which keeps
 * undocumented fields out of our responses: for clients it would forbid every new field (spec.md, Versioning).
 * @throws when two different schemas have the same title.
 */
export function shareSchemas<T>(value: T): { shared: T; schemas: { [title: string]: Schema } } {
  const schemas: JsonObject = {}
  const share = (json: Json): Json => {
    if (Array.isArray(json)) return json.map(share)
    if (typeof json !== 'object' || json === null) return json
    const entries = Object.entries(json).map(([key, value]) => [key, dataKeywords.has(key) ? value : share(value)])
    const mapped: JsonObject = Object.fromEntries(entries)
    const { title, examples, additionalProperties, ...rest } = mapped
    if (typeof title !== 'string' || mapped.type !== 'object') return mapped
    if (!isDeepStrictEqual(schemas[title] ?? rest, rest)) throw new Error(`two schemas have the title ${title}`)
    schemas[title] = rest
    return { $ref: `#/components/schemas/${title}` }
  }
  return { shared: share(value as Json) as T, schemas: schemas as { [title: string]: Schema } }
}
