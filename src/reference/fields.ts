/** Parameters and schemas as lists of fields in HTML. Pure. */
import { escaped, prose } from './html.js'
import type { Operation, Parameter, Response, Schema } from './openapi.js'

type Field = Pick<Parameter, 'name' | 'schema' | 'description' | 'required'>

/** The type in a few words: `integer or null`, `array of Sensor`, `moving | online`. */
function typeName(schema: Schema): string {
  const { anyOf, enum: values, title, type = 'any', items = {} } = schema
  if (anyOf) return [...new Set(anyOf.map(typeName))].join(' or ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (values) return values.filter((one) => one !== null).join(' | ')
  if (title !== undefined && type === 'object') return title
  return type === 'array' ? `array of ${typeName(items)}` : [type].flat().join(' or ')
}

function bounds({ minimum, maximum, default: usual }: Schema): string {
  const range = maximum === undefined || minimum === undefined ? '' : `, ${minimum} to ${maximum}`
  return `${range}${usual === undefined ? '' : `, default ${usual}`}`
}

/** The first paragraph of the description: what follows, such as a table, has a chapter of its own on the page. */
function fieldItem({ name, schema, description = '', required = false }: Field): string {
  const mark = required ? ' <span class="required">required</span>' : ''
  return `<div><dt><code>${escaped(name)}</code> <span class="type">${escaped(typeName(schema) + bounds(schema))}</span>${mark}</dt>
<dd>${prose(description.split('\n\n', 1).join(''))}</dd></div>`
}

const fieldList = (fields: Field[]): string => `<dl class="fields">${fields.map(fieldItem).join('\n')}</dl>`

/** The fields of a schema, those of nested objects as `location.lat` and `sensors[].type`. */
function fieldsOf({ properties = {}, required = [] }: Schema = {}, prefix = ''): Field[] {
  return Object.entries(properties).flatMap(([property, schema]) => {
    const name = prefix + property
    const own = { name, schema, description: schema.description ?? '', required: required.includes(property) }
    const nested = [schema, ...(schema.anyOf ?? [])].flatMap((one) =>
      one.items?.properties ? fieldsOf(one.items, `${name}[].`) : fieldsOf(one, `${name}.`),
    )
    return [own, ...nested]
  })
}

/** The parameters of an operation and the fields of its body; '' without any. */
export function parameterList({ parameters = [], requestBody }: Operation): string {
  const fields = [...parameters, ...fieldsOf(requestBody?.content['application/json']?.schema)]
  return fields.length === 0 ? '' : `<h4>Parameters</h4>\n${fieldList(fields)}`
}

/** The fields of a response: of a list, those of its items, because the envelope has a chapter of its own. */
export function responseFields({ content }: Response): string {
  const whole = content?.['application/json']?.schema
  const { items } = whole?.properties?.data ?? {}
  const fields = fieldsOf(items ?? whole)
  const list = fieldList(fields.map((field) => ({ ...field, required: false })))
  const summary = `The ${fields.length} fields${items ? ' of an item of <code>data</code>' : ''}`
  return `<h4>Response</h4>\n<details class="field-details"><summary>${summary}</summary>\n${list}</details>`
}
