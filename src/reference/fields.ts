/** Parameters and schemas as lists of fields in HTML. Pure. */
import { escaped, prose } from './html.js'
import type { Json, JsonObject, OpenApi, Operation } from './openapi.js'

type Schemas = OpenApi['components']['schemas']

const asObject = (json: Json | undefined): JsonObject =>
  typeof json === 'object' && json !== null && !Array.isArray(json) ? json : {}

function resolved(schema: Json | undefined, schemas: Schemas): JsonObject {
  const own = asObject(schema)
  return typeof own.$ref === 'string' ? resolved(schemas[own.$ref.split('/').at(-1) as string], schemas) : own
}

const asArray = (json: Json | undefined): Json[] => (Array.isArray(json) ? json : [])

/** The type in a few words: `integer or null`, `array of Sensor`, `moving | online`. */
function typeName(schema: JsonObject): string {
  const choices = asArray(schema.anyOf).map((one) => typeName(asObject(one)))
  if (choices.length > 0) return [...new Set(choices)].join(' or ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.filter((one) => one !== null).join(' | ')
  if (typeof schema.$ref === 'string') return schema.$ref.split('/').at(-1) as string
  if (schema.type === 'array') return `array of ${typeName(asObject(schema.items))}`
  return [schema.type ?? 'any'].flat().join(' or ')
}

function bounds({ minimum, maximum, default: usual }: JsonObject): string {
  const range = maximum === undefined || minimum === undefined ? '' : `, ${minimum} to ${maximum}`
  return `${range}${usual === undefined ? '' : `, default ${usual}`}`
}

interface Field {
  name: string
  schema: JsonObject
  description: string
  isRequired: boolean
}

const text = (json: Json | undefined): string => (typeof json === 'string' ? json : '')

/** The first paragraph of the description: what follows, such as a table, has a chapter of its own on the page. */
function fieldItem({ name, schema, description, isRequired }: Field): string {
  const required = isRequired ? ' <span class="required">required</span>' : ''
  return `<div><dt><code>${escaped(name)}</code> <span class="type">${escaped(typeName(schema) + bounds(schema))}</span>${required}</dt>
<dd>${prose(description.split('\n\n', 1).join(''))}</dd></div>`
}

const fieldList = (fields: Field[]): string => `<dl class="fields">${fields.map(fieldItem).join('\n')}</dl>`

/** The fields of a schema, those of nested objects as `location.lat` and `sensors[].type`. */
function fieldsOf(schema: JsonObject, schemas: Schemas, prefix = ''): Field[] {
  const required = asArray(schema.required)
  return Object.entries(asObject(schema.properties)).flatMap(([name, json]) => {
    const property = asObject(json)
    const own = { name: prefix + name, schema: property, isRequired: required.includes(name) }
    const description = text(property.description) || text(resolved(property, schemas).description)
    return [{ ...own, description }, ...nested(property, schemas, prefix + name)]
  })
}

function nested(property: JsonObject, schemas: Schemas, name: string): Field[] {
  const object = [property, ...asArray(property.anyOf)].map((one) => resolved(one, schemas))
  return object.flatMap((one) => {
    const items = resolved(one.items, schemas)
    return items.properties ? fieldsOf(items, schemas, `${name}[].`) : fieldsOf(one, schemas, `${name}.`)
  })
}

/** The parameters of an operation and the fields of its body; '' without any. */
export function parameterList({ parameters = [], requestBody }: Operation, schemas: Schemas): string {
  const sent = parameters.map(({ name, schema, description = '', required: isRequired = false }): Field => {
    return { name, schema: asObject(schema), description, isRequired }
  })
  const body = requestBody ? fieldsOf(resolved(requestBody.content['application/json']?.schema, schemas), schemas) : []
  return sent.length + body.length === 0 ? '' : fieldList([...sent, ...body])
}

/** The fields of a response: of a list, those of its items, because the envelope has a chapter of its own. */
export function responseFields(schema: Json, schemas: Schemas): { count: number; isList: boolean; html: string } {
  const whole = resolved(schema, schemas)
  const items = resolved(asObject(asObject(whole.properties).data).items, schemas)
  const isList = Object.keys(items).length > 0
  const fields = fieldsOf(isList ? items : whole, schemas).map((field) => ({ ...field, isRequired: false }))
  return { count: fields.length, isList, html: fieldList(fields) }
}
