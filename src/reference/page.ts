/** The page as static HTML: the navigation, the chapters, and all operations of the document. Pure. */
import type { Chapter, Facts } from './chapter.js'
import { dataGuide } from './data-guide.js'
import { escaped } from './html.js'
import { introduction } from './introduction.js'
import type { OpenApi } from './openapi.js'
import { methodBadge, type OperationGroup, operationAnchor, operationArticle, operationGroups } from './operation.js'
import { terms } from './terms.js'

interface PageOptions {
  facts: Facts
  document: OpenApi
  /** The text of CHANGELOG.md. */
  changelog: string
  /** The URL of an asset, relative to the page. */
  asset: (name: string) => string
}

const section = ({ id, title, html }: Chapter): string =>
  `<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title"><a href="#${id}">${title}</a></h2>\n${html}\n</section>`

const groupId = ({ tag }: OperationGroup): string => `group-${tag.toLowerCase().replace(/\W+/g, '-')}`

function groupChapter(group: OperationGroup, document: OpenApi): Chapter {
  const articles = group.endpoints.map((endpoint) => operationArticle(endpoint, document))
  return { id: groupId(group), title: group.tag, html: `<p>${escaped(group.description)}.</p>\n${articles.join('\n')}` }
}

const chapterLinks = (chapters: Chapter[]): string =>
  `<ul>${chapters.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ul>`

function groupLinks(group: OperationGroup): string {
  const links = group.endpoints.map(
    (endpoint) =>
      `<li><a href="#${operationAnchor(endpoint)}">${methodBadge(endpoint)} ${escaped(endpoint.operation.summary)}</a></li>`,
  )
  return `<p><a href="#${groupId(group)}">${group.tag}</a></p>\n<ul class="operations">${links.join('\n')}</ul>`
}

/** Puts the address of the API and the demo token, if any, in place of the placeholders in the examples. */
const filled = (html: string, { publicUrl, demoToken = '<API_KEY>' }: Facts): string =>
  html.replaceAll('&lt;BASE_URL&gt;', () => escaped(publicUrl)).replaceAll('&lt;API_KEY&gt;', () => escaped(demoToken))

const stylesheets = ['page.css', 'content.css', 'operations.css']

function head({ facts, asset }: PageOptions): string {
  const hasDemo = facts.demoToken !== undefined
  const links = [...stylesheets, ...(hasDemo ? ['map.css'] : [])].map(
    (name) => `<link rel="stylesheet" href="${asset(name)}">`,
  )
  return `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>GPS Fleet Gateway: API reference</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
${links.join('\n')}
<script type="module" src="${asset('page.js')}"></script>
${hasDemo ? `<script type="module" src="${asset('map.js')}"></script>` : ''}`
}

export function renderPage(options: PageOptions): string {
  const { facts, document, changelog, asset } = options
  const version = escaped(document.info.version)
  const groups = operationGroups(document)
  const [before, after] = [[...introduction(facts), ...dataGuide(facts)], terms(facts, version, changelog)]
  const chapters = [...before, ...groups.map((group) => groupChapter(group, document)), ...after]
  const data = facts.demoToken === undefined ? '' : ` data-demo="${escaped(facts.demoToken)}"`
  return `<!doctype html>
<html lang="en">
<head>
${head(options)}
</head>
<body${data} data-console="${['swagger-ui.css', 'console.css', 'swagger-ui-bundle.js'].map(asset).join(' ')}">
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><p class="name"><img src="${asset('icon.svg')}" alt="" width="28" height="28"> GPS Fleet Gateway <span class="version">${version}</span></p>
<button type="button" class="menu" popovertarget="navigation">Contents</button></header>
<div class="layout">
<nav id="navigation" aria-label="Contents" popover>
<p>Guide</p>
${chapterLinks(before)}
${groups.map(groupLinks).join('\n')}
<p>Terms</p>
${chapterLinks(after)}
</nav>
<main id="main" tabindex="-1">
<h1>API reference</h1>
${filled(chapters.map(section).join('\n'), facts)}
</main>
</div>
<footer><p>Version ${version}. The OpenAPI document is <a href="openapi.json">openapi.json</a>.</p></footer>
</body>
</html>
`
}
