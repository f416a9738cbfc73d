/** Moves every object schema with a title to `components.schemas`, so that the document contains each schema once. Pure. */
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from './openapi.js'

/** Keywords whose values are data, not schemas. */
const dataKeywords = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * Replaces every titled object in the schema by a reference, and adds the object to `schemas`.
 * Examples of such objects are dropped: each operation shows its own. So is `additionalProperties: false`, which keeps
 * undocumented fields out of our responses: for clients it would forbid every new field (spec.md, Versioning).
 * @throws when two different schemas have the same title.
 */
export function shareSchemas(schema: Json, schemas: Map<string, Json>): Json {
  if (Array.isArray(schema)) return schema.map((one) => shareSchemas(one, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const mapped: JsonObject = {}
  for (const [key, value] of Object.entries(schema))
    mapped[key] = dataKeywords.has(key) ? value : shareSchemas(value, schemas)
  const { title, examples, additionalProperties, ...rest } = mapped
  if (typeof title !== 'string' || mapped.type !== 'object') return mapped
  const known = schemas.get(title)
  if (known !== undefined && !isDeepStrictEqual(known, rest)) throw new Error(`two schemas have the title ${title}`)
  schemas.set(title, rest)
  return { $ref: `#/components/schemas/${title}` }
}
