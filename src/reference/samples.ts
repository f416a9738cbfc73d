/** The request of an operation as code to paste, made from the examples in the OpenAPI document. Pure. */
import type { Samples } from './html.js'
import type { Json, JsonObject, Operation } from './openapi.js'

export interface Endpoint {
  method: string
  path: string
  operation: Operation
}

/** How the samples reach the service. */
export interface Access {
  /** The address of the API as callers see it. */
  base: string
  /** The credential for operations that take any. */
  credential: string
}

interface SampleRequest {
  url: string
  method: string
  authorization: string | undefined
  body: JsonObject | undefined
}

/** The example request: path parameters and required parameters, with their documented examples. */
function requestOf({ method, path, operation }: Endpoint, { base, credential }: Access): SampleRequest {
  const { parameters = [], requestBody, security = [] } = operation
  const example = (name: string): string => String(parameters.find((one) => one.name === name)?.example)
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }) => `${name}=${example(name)}`)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => example(name))
  const takesAny = security.some((scheme) => 'apiKey' in scheme)
  return {
    url: [base + filled, ...(query.length > 0 ? [query.join('&')] : [])].join('?'),
    method: method.toUpperCase(),
    authorization: security.length === 0 ? undefined : `Bearer ${takesAny ? credential : '<PLATFORM_HASH>'}`,
    body: requestBody?.content['application/json']?.example as JsonObject | undefined,
  }
}

function curl({ url, method, authorization, body }: SampleRequest): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    ...(authorization === undefined ? [] : [`-H 'Authorization: ${authorization}'`]),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body)}'`]),
  ]
  return parts.join(' \\\n  ')
}

function javaScript({ url, method, authorization, body }: SampleRequest): string {
  const headers = [
    ...(authorization === undefined ? [] : [`Authorization: '${authorization}'`]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ]
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',\n`]),
    ...(headers.length === 0 ? [] : [`  headers: { ${headers.join(', ')} },\n`]),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${literal(body)}),\n`]),
  ]
  const call = options.length === 0 ? `fetch('${url}')` : `fetch('${url}', {\n${options.join('')}})`
  return `const response = await ${call}\nconsole.log(response.status, await response.json())`
}

function python({ url, method, authorization, body }: SampleRequest): string {
  const headers = [
    ...(authorization === undefined ? [] : [`'Authorization': '${authorization}'`]),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json'"]),
  ]
  const options = [
    `    '${url}',\n`,
    ...(method === 'GET' ? [] : [`    method='${method}',\n`]),
    ...(headers.length === 0 ? [] : [`    headers={${headers.join(', ')}},\n`]),
    ...(body === undefined ? [] : [`    data=json.dumps(${literal(body, (name) => `'${name}'`)}).encode(),\n`]),
  ]
  return `import json
from urllib.request import Request, urlopen

request = Request(
${options.join('')})
with urlopen(request) as response:
    print(response.status, json.load(response))`
}

/** An object of strings and numbers in the syntax of JavaScript, or of Python with quoted names. */
function literal(body: JsonObject, quoted = (name: string): string => name): string {
  const value = (json: Json): string => (typeof json === 'string' ? `'${json}'` : JSON.stringify(json))
  return `{ ${Object.entries(body)
    .map(([name, json]) => `${quoted(name)}: ${value(json)}`)
    .join(', ')} }`
}

/** The example request of an operation in three languages. */
export function samplesOf(endpoint: Endpoint, access: Access): Required<Samples> {
  const request = requestOf(endpoint, access)
  return { shell: curl(request), javascript: javaScript(request), python: python(request) }
}
