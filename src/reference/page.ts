/** The page as HTML: overview, live map, introduction, and the element for the interactive reference. Pure. */
import { escaped } from './html.js'
import { type Chapter, type Facts, introduction } from './introduction.js'

function overview({ demoToken }: Facts): Chapter {
  const demo = demoToken === undefined ? '' : ' Try it on this page with a simulated fleet, without an account.'
  return {
    id: 'overview',
    title: 'What it is',
    html: `<p class="lead">Your GPS devices as plain JSON: where they are, where they were, what happened to them. One HTTP API in front of a GPS
tracking platform.${demo}</p>
<ul class="facts">
<li><strong>Read</strong> devices, last positions, geofences, events, history, alerts, maintenance services and drivers with <code>GET</code>, which never
modifies data.</li>
<li><strong>One account</strong> per credential: no request can reach the data of another account.</li>
<li><strong>OpenAPI 3.1</strong>: generate a client from <a href="openapi.json">openapi.json</a>.</li>
</ul>`,
  }
}

const mapBody = `<p>The demo fleet as returned by the API: an arrow for each device, turned to its course, over the geofences, and the JSON it is drawn from.</p>
<div class="live">
<div class="stage">
<div class="canvas" id="map-canvas"></div>
<div class="bar">
<ul class="legend" id="map-legend" aria-label="Devices by status"></ul>
<label>Device <select id="map-choice"></select></label>
<button type="button" id="map-pause">Pause</button>
</div>
<p class="note"><span id="map-note" role="status">Loading the fleet…</span> <span id="map-time"></span></p>
</div>
<div class="map-response">
<p class="request"><code id="map-request">GET /v1/devices?limit=500</code></p>
<pre id="map-json" tabindex="0" role="region" aria-label="The response that the map is drawn from"></pre>
</div>
</div>
<noscript><p class="quiet">The map needs JavaScript.</p></noscript>`

function map({ demoToken }: Facts): Chapter {
  const none = '<p class="quiet">This service has no demo fleet, so there is no map.</p>'
  return { id: 'map', title: 'The fleet, live', html: demoToken === undefined ? none : mapBody }
}

const reference: Chapter = {
  id: 'reference',
  title: 'Every operation',
  html: `<p>Open an operation, press <em>Execute</em>, and read the response. <em>Authorize</em> takes your own credential, which is kept only in this page
until you close it.</p>
<div id="operations"><p class="quiet">Loading the reference…</p></div>
<noscript><p class="quiet">This part needs JavaScript. <a href="openapi.json">openapi.json</a> has the same content.</p></noscript>`,
}

const section = ({ id, title, html }: Chapter): string =>
  `<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>\n${html}\n</section>`

const stylesheets = ['swagger-ui.css', 'page.css', 'content.css', 'map.css', 'operations.css']

/** The whole page. @param asset returns the URL of an asset, relative to the page. */
export function renderPage(facts: Facts, version: string, asset: (name: string) => string): string {
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
${stylesheets.map((name) => `<link rel="stylesheet" href="${asset(name)}">`).join('\n')}
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
<footer><p>Version ${escaped(version)}. Breaking changes need a new major version; the previous one stays active for at least 12 months.</p></footer>
</body>
</html>
`
}
