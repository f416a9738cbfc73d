/** The page as static HTML: the files of `assets`, filled with what follows from the code, and all operations. Pure. */
import { eventKinds } from '../resources/event-kind.js'
import type { OpenApi } from './document.js'
import { errorEntries } from './error-guide.js'
import { codeBlock, codeExample, escaped, markdown, prose } from './html.js'
import { methodBadge, type OperationGroup, operationAnchor, operationArticle, operationGroups } from './operation.js'
import { eventNames, exampleMessage } from './webhook.js'

/** The settings of the service that the page shows. */
export interface Facts {
  /** The address of the API as callers see it, without a trailing slash. */
  publicUrl: string
  /** undefined = this service has no demo. */
  demoToken: string | undefined
  rateLimitMax: number
  rateLimitWindowMs: number
  maxKeysPerAccount: number
}

interface PageOptions {
  facts: Facts
  document: OpenApi
  /** The text of a file of the folder `assets`. */
  text: (name: string) => string
  /** The URL of an asset, relative to the page. */
  asset: (name: string) => string
}

/** By name what fills `{{name}}`, as HTML; a function fills `{{name word word}}` with the words. */
type Values = Record<string, string | ((...words: string[]) => string)>

/**
 * The HTML with its placeholders filled. `{{#demo}}…{{/demo}}` remains with a demo, `{{^demo}}…{{/demo}}` without.
 * @throws for a placeholder without a value.
 */
export function filled(html: string, values: Values, hasDemo: boolean): string {
  const [kept, dropped] = hasDemo ? ['{{#demo}}', '{{^demo}}'] : ['{{^demo}}', '{{#demo}}']
  const parts = html.split('{{/demo}}').map((part) => part.split(dropped, 1)[0]?.replace(kept, ''))
  return parts.join('').replace(/\{\{([^{}]+)\}\}/g, (_, placeholder: string) => {
    const [name = '', ...words] = placeholder.split(' ')
    const value = values[name]
    if (value === undefined) throw new Error(`{{${placeholder}}} has no value`)
    return typeof value === 'string' ? value : value(...words)
  })
}

const heading = /<section id="([\w-]+)">\n<h2>([^<]+)<\/h2>/g

/** The HTML with the heading of each chapter as a link to itself. */
const linked = (html: string): string =>
  html.replace(heading, '<section id="$1" aria-labelledby="$1-title"><h2 id="$1-title"><a href="#$1">$2</a></h2>')

function contents(html: string): string {
  const links = [...html.matchAll(heading)].map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`)
  return `<ul>${links.join('')}</ul>`
}

const groupId = ({ tag }: OperationGroup): string => `group-${tag.toLowerCase().replace(/\W+/g, '-')}`

function groupChapter(group: OperationGroup): string {
  return `<section id="${groupId(group)}">
<h2>${group.tag}</h2>
<p>${escaped(group.description)}.</p>
${group.endpoints.map(operationArticle).join('\n')}
</section>`
}

function groupLinks(group: OperationGroup): string {
  const links = group.endpoints.map(
    (endpoint) =>
      `<li><a href="#${operationAnchor(endpoint)}">${methodBadge(endpoint)} ${escaped(endpoint.operation.summary)}</a></li>`,
  )
  return `<p><a href="#${groupId(group)}">${group.tag}</a></p>\n<ul class="operations">${links.join('\n')}</ul>`
}

function kindRow({ kind, meaning, words, aliases }: (typeof eventKinds)[number]): string {
  const texts = [prose(meaning), ...[...words, ...aliases].map((word) => `<code>${word}</code>`)]
  return `<div><dt><code>${kind}</code></dt><dd>${texts.join(' ')}</dd></div>`
}

/** What follows from code and settings in the texts of the page. */
function valuesOf({ facts, document, text, asset }: PageOptions): Values {
  const { publicUrl, demoToken, rateLimitMax, rateLimitWindowMs, maxKeysPerAccount } = facts
  return {
    asset,
    code: (...files) => codeExample(files, (file) => text(`snippets/${file}`)),
    version: escaped(document.info.version),
    publicUrl: escaped(publicUrl),
    demoToken: escaped(demoToken ?? ''),
    rateLimitMax: String(rateLimitMax),
    rateLimitWindow: rateLimitWindowMs === 60_000 ? 'per minute' : `per ${rateLimitWindowMs / 1000} seconds`,
    maxKeysPerAccount: String(maxKeysPerAccount),
    eventKinds: eventKinds.map(kindRow).join('\n'),
    errors: errorEntries(demoToken !== undefined),
    webhookExample: codeBlock('webhook', 'json', JSON.stringify(exampleMessage, null, 2)),
    webhookEvents: eventNames.map((name) => `<code>${name}</code>`).join(', '),
    changelog: markdown(text('CHANGELOG.md')),
  }
}

export function renderPage(options: PageOptions): string {
  const { facts, document, text } = options
  const { publicUrl, demoToken = '<API_KEY>' } = facts
  const values = valuesOf(options)
  const fill = (name: string, more: Values = {}): string =>
    filled(text(name), { ...values, ...more }, facts.demoToken !== undefined)
  const guide = fill('guide.html')
  const terms = fill('terms.html')
  const groups = operationGroups(document)
  const page = fill('page.html', {
    guide,
    terms,
    operations: groups.map(groupChapter).join('\n'),
    guideLinks: contents(guide),
    termsLinks: contents(terms),
    operationLinks: groups.map(groupLinks).join('\n'),
  })
  // The examples say where the address and the demo token, if any, belong.
  return linked(page)
    .replaceAll('&lt;BASE_URL&gt;', () => escaped(publicUrl))
    .replaceAll('&lt;API_KEY&gt;', () => escaped(demoToken))
}
