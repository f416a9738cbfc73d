/** The page as HTML: what it is, the live map, the introduction, the place of the interactive reference. Pure; knows no HTTP. */
import { escaped } from './html.js'
import { type Chapter, type Facts, introduction } from './introduction.js'

function overview({ demoToken }: Facts): Chapter {
  const demo =
    demoToken === undefined
      ? ''
      : ' You can try everything on this page at once, on a simulated fleet, without an account.'
  return {
    id: 'overview',
    title: 'What it is',
    html: `<p class="lead">Your vehicles as plain JSON: where they are, where they were, what happened to them. One HTTP API in front of a GPS tracking
platform, read-mostly and strict about what it promises.${demo}</p>
<ul class="facts">
<li><strong>Read</strong> devices, last positions, geofences, events, history, alerts, maintenance and drivers with <code>GET</code>. Nothing you read changes
anything.</li>
<li><strong>One account</strong> per credential: no request can reach another account's data.</li>
<li><strong>Machine-readable</strong> throughout: <a href="openapi.json">openapi.json</a> is OpenAPI 3.1; generate a client from it.</li>
</ul>`,
  }
}

const mapBody = `<p>The demo fleet as the API tells it: an arrow per vehicle, turned to its course, over the geofences, and beside it the JSON that drew them.</p>
<div class="live">
<div class="stage">
<div class="canvas" id="map-canvas"></div>
<div class="bar">
<ul class="legend" id="map-legend" aria-label="Vehicles by status"></ul>
<label>Vehicle <select id="map-choice"></select></label>
<button type="button" id="map-pause">Pause</button>
</div>
<p class="note"><span id="map-note" role="status">Asking for the fleet…</span> <span id="map-time"></span></p>
</div>
<div class="answer">
<p class="request"><code id="map-request">GET /v1/devices?limit=500</code></p>
<pre id="map-json" tabindex="0" role="region" aria-label="The answer that drew the map"></pre>
</div>
</div>
<noscript><p class="quiet">The map needs JavaScript.</p></noscript>`

function map({ demoToken }: Facts): Chapter {
  const none = '<p class="quiet">This service has no demo fleet, so there is nothing to draw here.</p>'
  return { id: 'map', title: 'The fleet, live', html: demoToken === undefined ? none : mapBody }
}

const reference: Chapter = {
  id: 'reference',
  title: 'Every operation',
  html: `<p>Open one, press <em>Execute</em>, read the answer. <em>Authorize</em> takes your own credential; it stays in this page and is forgotten
when you leave.</p>
<div id="operations"><p class="quiet">Loading the reference…</p></div>
<noscript><p class="quiet">This part needs JavaScript. <a href="openapi.json">openapi.json</a> says the same.</p></noscript>`,
}

const section = ({ id, title, html }: Chapter): string =>
  `<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>\n${html}\n</section>`

/** The whole page. @param asset the address of a file beside the page, relative to it. */
export function pageOf(facts: Facts, version: string, asset: (name: string) => string): string {
  const chapters = [overview(facts), map(facts), ...introduction(facts), reference]
  const data = facts.demoToken === undefined ? '' : ` data-demo="${escaped(facts.demoToken)}"`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>GPS Fleet Gateway: API reference</title>
<link rel="icon" href="${asset('icon.svg')}" type="image/svg+xml">
<link rel="stylesheet" href="${asset('swagger-ui.css')}">
<link rel="stylesheet" href="${asset('page.css')}">
<link rel="stylesheet" href="${asset('operations.css')}">
<script type="module" src="${asset('page.js')}"></script>
${facts.demoToken === undefined ? '' : `<script type="module" src="${asset('map.js')}"></script>`}
</head>
<body${data} data-bundle="${asset('swagger-ui-bundle.js')}">
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><p class="name"><img src="${asset('icon.svg')}" alt="" width="28" height="28"> GPS Fleet Gateway <span class="version">${escaped(version)}</span></p></header>
<div class="layout">
<nav aria-label="Chapters"><ol>${chapters.map(({ id, title }) => `<li><a href="#${id}">${title}</a></li>`).join('')}</ol></nav>
<main id="main" tabindex="-1">
<h1>API reference</h1>
${chapters.map(section).join('\n')}
</main>
</div>
<footer><p>Version ${escaped(version)}. Changes that break callers come only with a new major version; the previous one stays for at least 12 months.</p></footer>
</body>
</html>
`
}
