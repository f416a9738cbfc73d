/** The OpenAPI document: the operations that @fastify/swagger collects, completed by everything they share. Pure. */
import { isDeepStrictEqual } from 'node:util'
import { errorResponses, headerRefs, headers, isProtected, notModified } from './error-responses.js'
import type { Operation, Parameter, PathItem, Response, Schema } from './openapi.js'
import { plannedTag, webhooks } from './webhook.js'

const info = {
  title: 'GPS Fleet Gateway',
  summary: 'Devices, positions, geofences, events and history of a GPS tracking account as plain JSON',
  description: `Every path except \`/health\` and \`POST /v1/keys\` requires the header \`Authorization: Bearer <credential>\`.
All lists have one envelope, all errors have one shape, and every response carries the three \`RateLimit-*\` headers.
New fields and paths may appear at any time within version 1: ignore fields you do not know.

The page \`docs\` beside this document is an introduction with examples to copy.`,
  contact: { name: 'The operator of this service' },
  license: { name: 'MIT', identifier: 'MIT' },
}

const tags = [
  { name: 'Devices', description: 'Devices and their last positions' },
  { name: 'Geofences', description: 'Areas on the map' },
  { name: 'Events', description: 'What happened to a device' },
  { name: 'History', description: 'Where a device was' },
  { name: 'Alerts', description: 'The rules that create events' },
  { name: 'Maintenance services', description: 'Maintenance and when it is due' },
  { name: 'Drivers', description: 'Drivers and their devices' },
  { name: 'API keys', description: 'Created, listed and revoked with the platform hash' },
  { name: 'Account', description: 'The account of a credential' },
  { name: 'Service', description: 'The state of this service' },
  { name: plannedTag, description: 'Not available yet' },
]

const bearer = (description: string) => ({ type: 'http' as const, scheme: 'bearer', description })
export const securitySchemes = {
  demoToken: bearer(
    'The shared demo token: sample data without an account, if this service offers it. `Prefer: error=<code>` requests an error.',
  ),
  apiKey: bearer('An API key created with `POST /v1/keys` (`gps_live_…`). Use it in production.'),
  platformHash: bearer(
    "The account's platform hash: reads everything, and is the only credential that manages API keys.",
  ),
}

const anyCredential = Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] }))

/** The document before `shareSchemas`. @param paths of @fastify/swagger. @param publicUrl only `servers` depends on it. */
export function createDocument(paths: Record<string, PathItem>, publicUrl: string, version: string) {
  const operations = Object.values(paths).flatMap((item) => Object.values(item))
  const errors = operations.flatMap(errorResponses).map(({ name, response }) => [name, response] as const)
  const responses: Record<string, Response> = { NotModified: notModified, ...Object.fromEntries(errors) }
  const schemas: Record<string, Schema> = {}
  return {
    openapi: '3.1.0',
    info: { ...info, version },
    servers: [{ url: publicUrl, description: 'This service' }],
    tags,
    paths: mapValues(paths, (item) => mapValues(item, completeOperation)),
    webhooks,
    components: { securitySchemes, schemas, responses: sorted(responses), headers },
  }
}

export type OpenApi = ReturnType<typeof createDocument>

/**
 * The document as served, which contains every object schema with a title once, in `components.schemas`.
 * Examples of such objects are dropped: each operation shows its own. So is `additionalProperties: false`, which keeps
 * undocumented fields out of our responses: for clients it would forbid every new field (spec.md, Versioning).
 * @throws when two different schemas have the same title.
 */
export function shareSchemas(document: OpenApi): object {
  const schemas: Record<string, Schema> = {}
  // An example is data, and stays: no `type` in it, such as that of an event or a sensor, is `object`.
  const shared: OpenApi = JSON.parse(JSON.stringify(document), (_, json) => {
    if (typeof json?.title !== 'string' || json.type !== 'object') return json
    const { title, examples, additionalProperties, ...schema } = json
    if (!isDeepStrictEqual(schemas[title] ?? schema, schema)) throw new Error(`two schemas have the title ${title}`)
    schemas[title] = schema
    return { $ref: `#/components/schemas/${title}` }
  })
  shared.components.schemas = sorted(schemas)
  return shared
}

const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)))

const mapValues = <T, U>(record: Record<string, T>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]))

const refTo = (name: string) => ({ $ref: `#/components/responses/${name}` })

function completeOperation(operation: Operation): Operation {
  const { operationId, summary, description, tags, security = anyCredential, parameters, requestBody } = operation
  const errors = errorResponses(operation).map(({ status, name }) => [status, refTo(name)])
  return {
    operationId,
    summary,
    description,
    tags,
    security,
    parameters: parameters?.map(withStyle),
    requestBody: requestBody && { required: true, content: requestBody.content },
    responses: {
      200: success(operation),
      ...(isConditional(operation) && { 304: refTo('NotModified') }),
      ...Object.fromEntries(errors),
    },
  }
}

/** How a list is written in a query belongs to the parameter; @fastify/swagger leaves it in the schema. */
function withStyle({ schema, ...rest }: Parameter): Parameter {
  const { style, explode, ...own } = schema as Parameter['schema'] & { style?: string; explode?: boolean }
  return { schema: own, ...rest, ...(style !== undefined && { style, explode }) }
}

/** Whether the operation reads data of an account. */
const isConditional = (operation: Operation): boolean =>
  /^(get|list)/.test(operation.operationId) && isProtected(operation)

function success(operation: Operation): Response {
  const { description, content } = operation.responses[200]
  if (!content) throw new Error('an operation must describe its response')
  return {
    description,
    headers: headerRefs(
      ...(isProtected(operation) ? ['X-Api-Key-Expires'] : []),
      ...(isConditional(operation) ? ['ETag', 'Vary'] : []),
      'Cache-Control',
      ...(operation.tags.includes('Devices') ? ['Age', 'Cache-Status'] : []),
    ),
    content,
  }
}
