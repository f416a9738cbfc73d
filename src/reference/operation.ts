/** One operation of the document as static HTML: parameters and fields beside the request and the response. Pure. */
import { errorTable } from '../errors.js'
import type { OpenApi } from './document.js'
import { codesOf } from './error-responses.js'
import { parameterList, responseFields } from './fields.js'
import { codeBlock, codeTabs, escaped, prose } from './html.js'
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

export function operationArticle(endpoint: Endpoint): string {
  const { method, path, operation } = endpoint
  const { operationId, summary, description, responses } = operation
  const anchor = operationAnchor(endpoint)
  const example = JSON.stringify(responses[200].content?.['application/json']?.example, null, 2)
  return `<article class="operation" id="${anchor}" aria-labelledby="${anchor}-title" data-method="${method}" data-path="${path}">
<h3 id="${anchor}-title"><a href="#${anchor}">${escaped(summary)}</a></h3>
<p class="endpoint">${methodBadge(endpoint)} <code>${escaped(path)}</code></p>
<div class="columns"><div>
<p>${prose(description)}</p>
${parameterList(operation)}
${responseFields(responses[200])}
${errorList(endpoint)}
</div><div class="beside">
${codeTabs(operationId, samplesOf(endpoint))}
${codeBlock(`${operationId}-response`, 'json', example, '200 OK, application/json')}
</div></div>
</article>`
}
