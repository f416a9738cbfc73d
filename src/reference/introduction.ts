/** The chapters for a start: overview, map, first request, credentials, lists, limits. Pure. */
import { type Chapter, type Facts, rows } from './chapter.js'
import { codeBlock, codeTabs, escaped } from './html.js'
import * as snippets from './snippets.js'

function overview({ demoToken }: Facts): Chapter {
  const demo = demoToken === undefined ? '' : ' Try it on this page with a simulated fleet, without an account.'
  return {
    id: 'overview',
    title: 'Overview',
    html: `<p class="lead">Your GPS devices as plain JSON: where they are, where they were, what happened to them. One HTTP API in front of a GPS
tracking platform.${demo}</p>
<ul>
<li><strong>Read</strong> devices, last positions, geofences, events, history, alerts, maintenance services and drivers with <code>GET</code>, which never
modifies data.</li>
<li><strong>One account</strong> per credential: no request can reach the data of another account.</li>
<li><strong>OpenAPI 3.1</strong>: generate a client from <a href="openapi.json">openapi.json</a>.</li>
</ul>`,
  }
}

const map: Chapter = {
  id: 'map',
  title: 'The fleet, live',
  html: `<p>The demo fleet as returned by the API: an arrow for each device, turned to its course, over the geofences, and the JSON it is drawn from.
Devices at one place are one mark with their number; select it to list them.</p>
<div class="live">
<div class="stage">
<div class="canvas" id="map-canvas"></div>
<div class="bar">
<ul class="legend" id="map-legend" aria-label="Devices by status"></ul>
<label>Device <select id="map-choice"></select></label>
<button type="button" id="map-pause">Pause</button>
</div>
<p class="note" id="map-device"></p>
<p class="note"><span id="map-note" role="status">Loading the fleet…</span> <span id="map-time"></span></p>
</div>
<div class="map-response">
<p class="request"><code>GET /v1/devices?limit=500</code></p>
<pre id="map-json" tabindex="0" role="region" aria-label="The response that the map is drawn from"></pre>
</div>
</div>
<noscript><p class="quiet">The map needs JavaScript.</p></noscript>`,
}

function firstRequest({ demoToken }: Facts): Chapter {
  const lead =
    demoToken === undefined
      ? 'Replace <code>&lt;API_KEY&gt;</code> with your own credential.'
      : 'These examples contain the demo token of this service and run as pasted.'
  return {
    id: 'first-request',
    title: 'The first request',
    html: `<p>A request needs one header. ${lead}</p>
${codeTabs('first', snippets.first)}
<p>All paths begin with <code>&lt;BASE_URL&gt;</code>. Responses are JSON in UTF-8, whatever the <code>Accept</code> header says.
Ignore fields you do not know: new ones may appear at any time within version 1.</p>
<p>For TypeScript, generate the types of all operations with <a href="https://openapi-ts.dev">openapi-typescript</a> and send typed requests with openapi-fetch:</p>
${codeBlock('generate', 'shell', snippets.generate)}
${codeBlock('typed', 'typescript', snippets.typed)}`,
  }
}

function credentials({ demoToken, maxKeysPerAccount }: Facts): Chapter {
  const demo =
    demoToken === undefined
      ? 'This service has none.'
      : `Here it is <code>${escaped(demoToken)}</code>. It reads a simulated fleet and cannot manage keys.`
  return {
    id: 'credentials',
    title: 'The three credentials',
    html: `<p>Send one of them in <code>Authorization: Bearer …</code>. Each gives access to exactly one account. Use credentials only on
your server: never in a browser, in an app or in public code.</p>
<dl class="cards">
<div><dt>API key</dt><dd>Created here from the platform hash, one for each integration. Use it in production: when a key leaks, revoke it and
create another; nothing changes on the platform. It begins with <code>gps_live_</code> and is shown once.</dd></div>
<div><dt>Platform hash</dt><dd>The <code>user_api_hash</code> of your account on the tracking platform. It reads everything the account may
read, and only it creates, lists and revokes API keys.</dd></div>
<div><dt>Demo token</dt><dd>Shared by all callers; sample data without an account. ${demo}</dd></div>
</dl>
<p>A key is valid for 365 days unless you set <code>expires_in_days</code> (1 to 3650). An account has at most ${maxKeysPerAccount} active keys. During the
last 30 days of a key, every response of an operation that it authenticates carries <code>X-Api-Key-Expires</code>.</p>
<p><a href="#operation-createKey">Create</a>, <a href="#operation-listKeys">list</a> and <a href="#operation-revokeKey">revoke</a> keys with the platform
hash. A revoked key stops working at once and cannot be restored. Use <code>GET /v1/me</code> to check a credential and see which account it belongs to.</p>
<p>A key holds the platform hash that created it. After a password change the platform accepts only the new hash, and <code>GET /v1/keys</code> with the new
hash shows the old keys with <code>usable: false</code>. To keep a key, send <code>POST /v1/keys</code> with the new hash and <code>renew</code>, a list of key ids.
Keys that you do not renew stay unusable, and a revoked key stays revoked.</p>`,
  }
}

const paging: Chapter = {
  id: 'paging',
  title: 'Lists and pages',
  html: `<p>Every list has the same envelope. <code>count</code> is the number of all items that match your filters;
<code>limit</code> and <code>offset</code> are the values that were applied; <code>has_more</code> is true when another page follows.</p>
${codeBlock('envelope', 'json', snippets.envelope)}
<p><code>limit</code> is 50 by default and at most 500 for devices, and 50 and at most 200 for events. A higher <code>limit</code> is lowered to the maximum.
The other lists are complete unless you send <code>limit</code> or <code>offset</code>. The order is stable: by id, and events and API keys newest first.</p>
${codeBlock('all-events', 'javascript', snippets.allEvents)}`,
}

function limits({ rateLimitMax, rateLimitWindowMs }: Facts): Chapter {
  const windowText = rateLimitWindowMs === 60_000 ? 'per minute' : `per ${rateLimitWindowMs / 1000} seconds`
  return {
    id: 'limits',
    title: 'Rate limits and retries',
    html: `<p>Each credential may send <strong>${rateLimitMax} requests ${windowText}</strong>. Requests without a valid credential count per IP address, as do
those with the demo token. An account can create API keys at a fifth of that rate. This page and <code>openapi.json</code> have a budget of their own.
Higher limits exist only in an enterprise tier. Every response, errors included, shows the current state:</p>
${rows([
  ['RateLimit-Limit', 'requests per window'],
  ['RateLimit-Remaining', 'requests left in this window'],
  ['RateLimit-Reset', 'seconds until the next window'],
  ['X-Request-Id', 'identifies the request; quote it when you report a problem'],
])}
<p>After a 429 or 503, wait at least the number of seconds in <code>Retry-After</code>. Double the wait each time and add random jitter, so that
clients do not retry in step:</p>
${codeTabs('back-off', snippets.backOff)}
<p>Poll positions no more than once every 30 seconds. One <code>GET /v1/devices?limit=500</code> returns up to 500 devices and counts as one request.</p>`,
  }
}

export const introduction = (facts: Facts): Chapter[] => [
  overview(facts),
  ...(facts.demoToken === undefined ? [] : [map]),
  firstRequest(facts),
  credentials(facts),
  paging,
  limits(facts),
]
