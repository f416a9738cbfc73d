/** One operation of the document as static HTML: parameters and fields beside the request and the response. Pure. */
import { errorTable } from '../errors.js'
import { codesOf } from './error-responses.js'
import { parameterList, responseFields } from './fields.js'
import { codeBlock, codeTabs, escaped, prose } from './html.js'
import type { OpenApi } from './openapi.js'
import { type Endpoint, samplesOf } from './samples.js'

export type OperationGroup = ReturnType<typeof operationGroups>[number]

/** The operations of each tag, in the order of the document. */
export function operationGroups({ tags, paths }: OpenApi) {
  const endpoints = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]): Endpoint => ({ method, path, operation })),
  )
  const groups = tags.map(({ name: tag, description }) => {
    return { tag, description, endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag)) }
  })
  return groups.filter((group) => group.endpoints.length > 0)
}

export const operationAnchor = ({ operation }: Endpoint): string => `operation-${operation.operationId}`

export const methodBadge = ({ method }: Endpoint): string =>
  `<span class="method ${method}">${method.toUpperCase()}</span>`

function errorList({ operation }: Endpoint): string {
  const links = codesOf(operation).map(
    (code) => `<li><a href="#error-${code}">${errorTable[code][0]} <code>${code}</code></a></li>`,
  )
  return links.length === 0 ? '' : `<h4>Errors</h4>\n<ul class="codes">${links.join('')}</ul>`
}

function response(endpoint: Endpoint, { components }: OpenApi): { fields: string; example: string } {
  const success = endpoint.operation.responses['200']
  const content = success && 'content' in success ? success.content?.['application/json'] : undefined
  if (!content) return { fields: '', example: '' }
  const { count, isList, html } = responseFields(content.schema, components.schemas)
  const summary = isList ? `The ${count} fields of an item of <code>data</code>` : `The ${count} fields`
  const body = JSON.stringify(content.example, null, 2)
  return {
    fields: `<h4>Response</h4>\n<details class="field-details"><summary>${summary}</summary>\n${html}</details>`,
    example: codeBlock(`${endpoint.operation.operationId}-response`, 'json', body, '200 OK, application/json'),
  }
}

export function operationArticle(endpoint: Endpoint, document: OpenApi): string {
  const { method, path, operation } = endpoint
  const { operationId, summary, description } = operation
  const anchor = operationAnchor(endpoint)
  const parameters = parameterList(operation, document.components.schemas)
  const { fields, example } = response(endpoint, document)
  return `<article class="operation" id="${anchor}" aria-labelledby="${anchor}-title" data-method="${method}" data-path="${path}">
<h3 id="${anchor}-title"><a href="#${anchor}">${escaped(summary)}</a></h3>
<p class="endpoint">${methodBadge(endpoint)} <code>${escaped(path)}</code></p>
<div class="columns"><div>
<p>${prose(description)}</p>
${parameters === '' ? '' : `<h4>Parameters</h4>\n${parameters}`}
${fields}
${errorList(endpoint)}
</div><div class="beside">
${codeTabs(operationId, samplesOf(endpoint))}
${example}
</div></div>
</article>`
}
