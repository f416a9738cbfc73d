/** The differences of two OpenAPI documents that may break a client, as sentences. Pure. */
import type { OpenApi } from '../../src/reference/document.js'
import type { Json } from '../../src/reference/openapi.js'
import { compare } from '../../src/replay/diff.js'

/** One sentence for each change that may break a client of the old document. */
export const breaks = (was: OpenApi, is: OpenApi): string[] =>
  compare(facts(was.paths as unknown as Json, was), facts(is.paths as unknown as Json, is))
    .filter(isBreaking)
    .map(({ path, left, right }) => {
      if (left === undefined) return `${path} is new`
      return right === undefined ? `${path} is gone` : `${path} is ${right}, was ${left}`
    })

/** A document without texts, with references resolved, and with lists as objects, so that their order does not count. */
function facts(json: Json, document: OpenApi): Json {
  if (Array.isArray(json))
    return Object.fromEntries(json.map((item, at) => [nameIn(item) ?? at, facts(item, document)]))
  if (typeof json !== 'object' || json === null) return json
  if (typeof json.$ref === 'string') {
    const [, , part, name] = json.$ref.split('/') as [string, string, 'schemas' | 'responses', string]
    return facts(document.components[part][name] as Json, document)
  }
  const binding = Object.entries(json).filter(([name, value]) => !isText(name, value))
  return Object.fromEntries(binding.map(([name, value]) => [name, facts(alike(name, value), document)]))
}

/** A property may be called like a text, but is an object. */
const isText = (name: string, value: Json): boolean =>
  /^examples?$/.test(name) || (/^(description|summary|title)$/.test(name) && typeof value === 'string')

/** One type as a list of types, and no credential as a list of none. */
function alike(name: string, value: Json): Json {
  if (name === 'type' && typeof value === 'string') return [value]
  return name === 'security' && Array.isArray(value) && value.length === 0 ? ['none'] : value
}

/** The name of a parameter or a credential, or the text itself; undefined for a schema in `anyOf`. */
function nameIn(item: Json): string | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return String(item)
  if (typeof item.name === 'string') return item.name
  return Object.keys(item).find((name) => JSON.stringify(item[name]) === '[]')
}

/** A new condition breaks clients in what they send; a new kind of value in what they receive; and anything that is gone. */
function isBreaking({ path, left, right }: ReturnType<typeof compare>[number]): boolean {
  // Of the parameter `format`, `$defs` holds the body that it selects.
  const isSent = /\.(parameters|requestBody)(\.|$)/.test(path) && !path.includes('.$defs.')
  const [, bound] = /\.(min|max)(?:imum|Length|Items)$/.exec(path) ?? []
  if (bound === 'min') return isSent && Number(right ?? -Infinity) > Number(left ?? -Infinity)
  if (bound === 'max') return isSent && Number(right ?? Infinity) < Number(left ?? Infinity)
  // Without a default in the document, that of the service applies.
  if (isSent && /\.default$/.test(path)) return right !== undefined
  if (isSent && /\.required(\.\w+)?$/.test(path)) return right !== undefined
  if (left !== undefined) return true
  if (!isSent) return /\.type\.\w+$/.test(path)
  return /\.(pattern|enum|const)$/.test(path) || JSON.stringify(right).includes('"required":true')
}
