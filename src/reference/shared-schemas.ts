/** Gives every object schema with a title its place under `components.schemas`, so that a document says each noun once. Pure. */
import { isDeepStrictEqual } from 'node:util'
import type { Json, JsonObject } from './openapi.js'

/** Places whose contents are data, not schemas. */
const data = new Set(['example', 'examples', 'default', 'enum', 'const'])

/**
 * The schema with every titled object in it replaced by a reference; what was replaced is added to `schemas`.
 * Examples of such objects are dropped: they stand where the object is answered. So is `additionalProperties: false`,
 * which is our promise to leak nothing; told to callers it would forbid every field to come (spec.md, Versioning).
 * @throws when two different schemas have one title.
 */
export function named(schema: Json, schemas: Map<string, Json>): Json {
  if (Array.isArray(schema)) return schema.map((one) => named(one, schemas))
  if (typeof schema !== 'object' || schema === null) return schema
  const mapped: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) mapped[key] = data.has(key) ? value : named(value, schemas)
  const { title, examples, additionalProperties, ...rest } = mapped
  if (typeof title !== 'string' || mapped.type !== 'object') return mapped
  const known = schemas.get(title)
  if (known !== undefined && !isDeepStrictEqual(known, rest)) throw new Error(`two schemas are called ${title}`)
  schemas.set(title, rest)
  return { $ref: `#/components/schemas/${title}` }
}
