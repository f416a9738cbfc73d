/** The request of an operation as code to paste, made from the examples in the OpenAPI document. Pure. */
import type { Sample } from './html.js'
import type { Json, JsonObject, Operation } from './openapi.js'

export interface Endpoint {
  method: string
  path: string
  operation: Operation
}

type SampleRequest = ReturnType<typeof requestOf>

/** The example request: path parameters and required parameters, with their documented examples. */
function requestOf({ method, path, operation }: Endpoint) {
  const { parameters = [], requestBody, security = [] } = operation
  const example = (name: string): string => String(parameters.find((one) => one.name === name)?.example)
  const query = parameters
    .filter(({ in: place, required }) => place === 'query' && required)
    .map(({ name }, at) => `${at === 0 ? '?' : '&'}${name}=${example(name)}`)
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => example(name))
  const credential = security.some((scheme) => 'apiKey' in scheme) ? '<API_KEY>' : '<PLATFORM_HASH>'
  const headers: Record<string, string> = {
    ...(security.length > 0 && { Authorization: `Bearer ${credential}` }),
    ...(requestBody && { 'Content-Type': 'application/json' }),
  }
  return {
    url: `<BASE_URL>${filled}${query.join('')}`,
    method: method.toUpperCase(),
    headers,
    body: requestBody?.content['application/json']?.example as JsonObject | undefined,
  }
}

function curl({ url, method, headers, body }: SampleRequest): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}'${url}'`,
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body ? [`-d '${JSON.stringify(body)}'`] : []),
  ]
  return parts.join(' \\\n  ')
}

const jsName = (name: string): string => (name.includes('-') ? quoted(name) : name)
const quoted = (json: Json): string => (typeof json === 'string' ? `'${json}'` : JSON.stringify(json))
const entries = (object: JsonObject, toName: (name: string) => string): string =>
  Object.entries(object)
    .map(([name, json]) => `${toName(name)}: ${quoted(json)}`)
    .join(', ')

function javaScript({ url, method, headers, body }: SampleRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',\n`]),
    ...(Object.keys(headers).length > 0 ? [`  headers: { ${entries(headers, jsName)} },\n`] : []),
    ...(body ? [`  body: JSON.stringify({ ${entries(body, jsName)} }),\n`] : []),
  ]
  const call = options.length === 0 ? `fetch('${url}')` : `fetch('${url}', {\n${options.join('')}})`
  return `const response = await ${call}\nconsole.log(response.status, await response.json())`
}

function python({ url, method, headers, body }: SampleRequest): string {
  const options = [
    ...(method === 'GET' ? [] : [`    method='${method}',\n`]),
    ...(Object.keys(headers).length > 0 ? [`    headers={${entries(headers, quoted)}},\n`] : []),
    ...(body ? [`    data=json.dumps({ ${entries(body, quoted)} }).encode(),\n`] : []),
  ]
  return `import json
from urllib.request import Request, urlopen

request = Request(
    '${url}',
${options.join('')})
with urlopen(request) as response:
    print(response.status, json.load(response))`
}

export function samplesOf(endpoint: Endpoint): Sample[] {
  const request = requestOf(endpoint)
  return [
    ['shell', curl(request)],
    ['javascript', javaScript(request)],
    ['python', python(request)],
  ]
}
