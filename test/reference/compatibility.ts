/** The breaking changes from one OpenAPI document to the next, as sentences. Pure. */
import type { Json, JsonObject, OpenApi, Operation, Response, ResponseOrRef } from '../../src/reference/openapi.js'

/** Clients send requests and receive responses; the direction decides which change breaks them. */
type Direction = 'sent' | 'received'

interface Pair {
  was: OpenApi
  is: OpenApi
}

/** One sentence for each breaking change; none when every client of the old document works with the new one. */
export function breaks(was: OpenApi, is: OpenApi): string[] {
  const pair = { was, is }
  return Object.entries(was.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, operation]) => {
      const name = `${method.toUpperCase()} ${path}`
      const now = is.paths[path]?.[method]
      return now ? operationBreaks(name, operation, now, pair) : [`${name} is gone`]
    }),
  )
}

function operationBreaks(name: string, was: Operation, is: Operation, pair: Pair): string[] {
  return [
    ...(was.operationId === is.operationId ? [] : [`${name} is called ${is.operationId}, was ${was.operationId}`]),
    ...parameterBreaks(name, was, is, pair),
    ...bodyBreaks(name, was, is, pair),
    ...Object.entries(was.responses).flatMap(([status, response]) => {
      const now = is.responses[status]
      if (!now) return [`${name} no longer documents ${status}`]
      return responseBreaks(`${name} ${status}`, followed(response, pair.was), followed(now, pair.is), pair)
    }),
    ...securityBreaks(name, was, is),
  ]
}

function followed(response: ResponseOrRef, document: OpenApi): Response {
  if (!('$ref' in response)) return response
  return document.components.responses[response.$ref.split('/').at(-1) as string] as Response
}

function securityBreaks(name: string, was: Operation, is: Operation): string[] {
  const schemes = ({ security = [] }: Operation): string[] => security.flatMap(Object.keys)
  if (schemes(was).length === 0 && schemes(is).length > 0) return [`${name} now needs a credential`]
  if (schemes(is).length === 0) return []
  return schemes(was)
    .filter((scheme) => !schemes(is).includes(scheme))
    .map((scheme) => `${name} no longer takes ${scheme}`)
}

function parameterBreaks(name: string, was: Operation, is: Operation, pair: Pair): string[] {
  const [old, now] = [was.parameters ?? [], is.parameters ?? []]
  const found = old.flatMap((parameter) => {
    const same = now.find((one) => one.name === parameter.name && one.in === parameter.in)
    const place = `${name} parameter ${parameter.name}`
    if (!same) return [`${place} is gone`]
    const required = same.required && !parameter.required ? [`${place} is now required`] : []
    return [...required, ...schemaBreaks(place, parameter.schema, same.schema, 'sent', pair)]
  })
  const isNew = (one: { name: string }): boolean => !old.some(({ name }) => name === one.name)
  return [
    ...found,
    ...now
      .filter((one) => one.required && isNew(one))
      .map((one) => `${name} parameter ${one.name} is new and required`),
  ]
}

function bodyBreaks(name: string, was: Operation, is: Operation, pair: Pair): string[] {
  const [old, now] = [was.requestBody?.content ?? {}, is.requestBody?.content ?? {}]
  if (!was.requestBody && is.requestBody) return [`${name} now needs a body`]
  return Object.entries(old).flatMap(([type, { schema }]) => {
    const same = now[type]
    return same ? schemaBreaks(`${name} body`, schema, same.schema, 'sent', pair) : [`${name} no longer takes ${type}`]
  })
}

function responseBreaks(name: string, was: Response, is: Response, pair: Pair): string[] {
  const headers = Object.keys(was.headers ?? {}).filter((header) => !(header in (is.headers ?? {})))
  return [
    ...headers.map((header) => `${name} header ${header} is gone`),
    ...Object.entries(was.content ?? {}).flatMap(([type, { schema }]) => {
      const same = is.content?.[type]
      return same ? schemaBreaks(name, schema, same.schema, 'received', pair) : [`${name} is no longer ${type}`]
    }),
  ]
}

const isObject = (json: Json | undefined): json is JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json)

function resolved(schema: Json | undefined, document: OpenApi): JsonObject {
  if (!isObject(schema)) return {}
  if (typeof schema.$ref !== 'string') return schema
  return resolved(document.components.schemas[schema.$ref.split('/').at(-1) as string], document)
}

function schemaBreaks(place: string, old: Json, now: Json, direction: Direction, pair: Pair): string[] {
  const [was, is] = [resolved(old, pair.was), resolved(now, pair.is)]
  const inner = (name: string, a: Json, b: Json): string[] => schemaBreaks(`${place}${name}`, a, b, direction, pair)
  return [
    ...typeBreaks(place, was, is, direction),
    ...enumBreaks(place, was, is, direction),
    ...boundBreaks(place, was, is, direction),
    ...propertyBreaks(place, was, is, direction, inner),
    ...(was.items !== undefined && is.items !== undefined ? inner('[]', was.items, is.items) : []),
    ...variantBreaks(place, was, is, inner),
  ]
}

const typesOf = ({ type }: JsonObject): Json[] => (type === undefined ? [] : [type].flat())

/** An integer is a number. */
const covers = (types: Json[], type: Json): boolean =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

function typeBreaks(place: string, was: JsonObject, is: JsonObject, direction: Direction): string[] {
  const [old, now] = [typesOf(was), typesOf(is)]
  if (direction === 'received') {
    const foreign = old.length === 0 ? [] : now.filter((type) => !covers(old, type))
    return foreign.map((type) => `${place} may now be ${type}, was ${old.join(' or ')}`)
  }
  const rejected = now.length === 0 ? [] : old.filter((type) => !covers(now, type))
  return rejected.map((type) => `${place} may no longer be ${type}`)
}

function enumBreaks(place: string, was: JsonObject, is: JsonObject, direction: Direction): string[] {
  const [old, now] = [was, is].map((one) => (one.const !== undefined ? [one.const] : one.enum)) as (
    | Json[]
    | undefined
  )[]
  const gone = (old ?? []).filter((value) => now !== undefined && !now.includes(value))
  const narrowed = direction === 'sent' && old === undefined && now !== undefined
  return [
    ...gone.map((value) => `${place} value ${JSON.stringify(value)} is gone`),
    ...(narrowed ? [`${place} now takes only ${now.join(', ')}`] : []),
  ]
}

const lower = ['minimum', 'minLength', 'minItems']
const upper = ['maximum', 'maxLength', 'maxItems']

/** A tighter bound rejects what clients send. Clients must accept wider bounds in responses. */
function boundBreaks(place: string, was: JsonObject, is: JsonObject, direction: Direction): string[] {
  if (direction === 'received') return []
  const tighter = [
    ...lower.filter((bound) => Number(is[bound] ?? -Infinity) > Number(was[bound] ?? -Infinity)),
    ...upper.filter((bound) => Number(is[bound] ?? Infinity) < Number(was[bound] ?? Infinity)),
    ...(is.pattern !== undefined && is.pattern !== was.pattern ? ['pattern'] : []),
  ]
  const changed = was.default !== undefined && was.default !== is.default ? [`${place} has another default`] : []
  return [...tighter.map((bound) => `${place} has a tighter ${bound}`), ...changed]
}

type Inner = (name: string, was: Json, is: Json) => string[]

function propertyBreaks(place: string, was: JsonObject, is: JsonObject, direction: Direction, inner: Inner): string[] {
  const [old, now] = [was.properties, is.properties].map((one) => (isObject(one) ? one : {})) as [
    JsonObject,
    JsonObject,
  ]
  const [needed, needs] = [was.required, is.required].map((one) => (Array.isArray(one) ? one : [])) as [Json[], Json[]]
  const required =
    direction === 'sent'
      ? needs.filter((name) => !needed.includes(name)).map((name) => `${place}.${name} is now required`)
      : needed
          .filter((name) => !needs.includes(name) && String(name) in now)
          .map((name) => `${place}.${name} may now be missing`)
  const changed = Object.entries(old).flatMap(([name, schema]) => {
    const same = now[name]
    return same === undefined ? [`${place}.${name} is gone`] : inner(`.${name}`, schema, same)
  })
  return [...required, ...changed]
}

function variantBreaks(place: string, was: JsonObject, is: JsonObject, inner: Inner): string[] {
  if (!Array.isArray(was.anyOf)) return []
  const now = Array.isArray(is.anyOf) ? is.anyOf : []
  return was.anyOf.flatMap((variant, at) => {
    const same = now[at]
    return same === undefined ? [`${place} variant ${at + 1} is gone`] : inner('', variant, same)
  })
}
