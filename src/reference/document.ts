/** The OpenAPI document: what the routes say of themselves, completed by what all of them share. Knows no route. Pure. */
import type { ErrorCode } from '../errors.js'
import { ErrorBody } from '../http/types.js'
import { named } from './shared-schemas.js'
import type { Json, OpenApi, Operation, PathItem, Response, ResponseOrRef } from './openapi.js'
import { byStatus, codesOf, edgeCodes, errorResponse, headerRefs, headers, responseName } from './error-responses.js'
import { PlannedMessage, plannedTag, webhooks } from './webhook.js'

const info = {
  title: 'GPS Fleet Gateway',
  summary: 'Vehicles, positions, geofences, events and history of a GPS tracking account as plain JSON',
  description: `Every path but \`/health\` and \`POST /v1/keys\` takes the header \`Authorization: Bearer <credential>\`.
Lists come in one envelope, errors in one shape, and the three \`RateLimit-*\` headers stand on every response.
New fields and paths may appear at any time within version 1: ignore what you do not know.

The introduction, with examples that work as pasted, is on the page \`docs\` beside this document.`,
  license: { name: 'MIT', identifier: 'MIT' },
}

const tags = [
  { name: 'Devices', description: 'Vehicles and where they are' },
  { name: 'Geofences', description: 'Areas on the map' },
  { name: 'Events', description: 'What happened' },
  { name: 'History', description: 'Where a device was' },
  { name: 'Alerts', description: 'The rules that make events' },
  { name: 'Maintenance services', description: 'What is due when' },
  { name: 'Drivers', description: 'Who drives' },
  { name: 'API keys', description: 'Made, listed and revoked with the platform hash' },
  { name: 'Account', description: 'Whom a credential belongs to' },
  { name: 'Service', description: 'How the service itself fares' },
  { name: plannedTag, description: 'Not delivered today' },
]

const bearer = (description: string) => ({ type: 'http' as const, scheme: 'bearer', description })
export const securitySchemes = {
  demoToken: bearer('The shared demo token: sample data without an account, where the service offers it.'),
  apiKey: bearer('An API key made with `POST /v1/keys` (`gps_live_…`): what production should use.'),
  platformHash: bearer("The account's platform hash: reads everything, and alone manages API keys."),
}

/** Any one of them will do. */
const anyCredential = Object.keys(securitySchemes).map((scheme) => ({ [scheme]: [] }))

/**
 * The document that is served.
 * @param paths what @fastify/swagger gathered from the routes.
 * @param publicUrl the API's address as callers see it; nothing else in the document depends on it.
 */
export function documentOf(paths: Record<string, PathItem>, publicUrl: string, version: string): OpenApi {
  const schemas = new Map<string, Json>()
  const responses = new Map<string, Response>()
  const completed = Object.entries(paths).map(([path, item]) => [path, completedItem(item, schemas, responses)])
  named(ErrorBody as unknown as Json, schemas)
  schemas.set('PlannedMessage', PlannedMessage)
  return {
    openapi: '3.1.0',
    info: { ...info, version },
    servers: [{ url: publicUrl, description: 'This service' }],
    tags,
    paths: Object.fromEntries(completed),
    webhooks,
    components: {
      securitySchemes,
      schemas: sorted(schemas),
      responses: sorted(responses),
      headers,
    },
  }
}

type Named<T> = Map<string, T>

const sorted = <T>(map: Named<T>): Record<string, T> =>
  Object.fromEntries([...map].sort(([a], [b]) => (a < b ? -1 : 1)))

function completedItem(item: PathItem, schemas: Named<Json>, responses: Named<Response>): PathItem {
  return Object.fromEntries(
    Object.entries(item).map(([method, operation]) => [method, completedOperation(operation, schemas, responses)]),
  )
}

function completedOperation(operation: Operation, schemas: Named<Json>, responses: Named<Response>): Operation {
  const { operationId, summary, description, tags, security = anyCredential, parameters, requestBody } = operation
  return {
    operationId,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    tags,
    security,
    ...(parameters === undefined ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody: { required: true, content: body(requestBody, schemas) } }),
    responses: {
      '200': success(operation, schemas),
      ...refusals(codesOf(operation), responses),
    },
  }
}

function body({ content }: NonNullable<Operation['requestBody']>, schemas: Named<Json>) {
  return Object.fromEntries(
    Object.entries(content).map(([type, { schema, ...rest }]) => [type, { schema: named(schema, schemas), ...rest }]),
  )
}

function success({ responses, security }: Operation, schemas: Named<Json>): Response {
  const own = responses['200']
  if (!own || !('description' in own) || !own.content) throw new Error('an operation must say what it answers')
  const isProtected = security === undefined || security.length > 0
  return {
    description: own.description,
    headers: headerRefs(...(isProtected ? ['X-Api-Key-Expires'] : [])),
    content: body({ content: own.content }, schemas),
  }
}

function refusals(codes: ErrorCode[], responses: Named<Response>): Record<string, ResponseOrRef> {
  const edge = 'Any other refusal, before the request reaches the operation'
  const all: [string, ErrorCode[], string?][] = [
    ...byStatus(codes).map(([status, group]): [string, ErrorCode[]] => [String(status), group]),
    ['4XX', edgeCodes, edge],
  ]
  return Object.fromEntries(
    all.map(([status, group, description]) => {
      const name = responseName(group)
      responses.set(name, errorResponse(group, description))
      return [status, { $ref: `#/components/responses/${name}` }]
    }),
  )
}
