/** The introduction on the page, chapter by chapter. Pure. */
import { type ErrorCode, errorTable } from '../errors.js'
import { errorGuide } from './error-guide.js'
import { codeBlock, escaped, prose } from './html.js'
import * as snippets from './snippets.js'

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

/** A chapter of the page: its anchor, its heading, its HTML. */
export interface Chapter {
  id: string
  title: string
  html: string
}

const credentialOf = ({ demoToken }: Facts): string => demoToken ?? '<API_KEY>'

function firstRequest(facts: Facts): Chapter {
  const [base, credential] = [facts.publicUrl, credentialOf(facts)]
  const lead =
    facts.demoToken === undefined
      ? 'Replace <code>&lt;API_KEY&gt;</code> with your own credential.'
      : 'These examples contain the demo token of this service and run as pasted.'
  return {
    id: 'first-request',
    title: 'The first request',
    html: `<p>A request needs one header. ${lead}</p>
${codeBlock('first-curl', 'shell', snippets.firstCurl(base, credential))}
<div class="pair">${codeBlock('first-javascript', 'javascript', snippets.firstJavaScript(base, credential))}
${codeBlock('first-python', 'python', snippets.firstPython(base, credential))}</div>
<p>All paths begin with <code>${escaped(base)}</code>. Responses are JSON in UTF-8, whatever the <code>Accept</code> header says.
Ignore fields you do not know: new ones may appear at any time within version 1.</p>`,
  }
}

function credentials(facts: Facts): Chapter {
  const { publicUrl: base, demoToken, maxKeysPerAccount } = facts
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
last 30 days of a key, every response to it carries <code>X-Api-Key-Expires</code>.</p>
${codeBlock('create-key', 'shell', snippets.createKey(base))}
${codeBlock('list-keys', 'shell', snippets.listKeys(base))}
${codeBlock('revoke-key', 'shell', snippets.revokeKey(base))}
<p>A revoked key stops working at once and cannot be restored. Use <code>GET /v1/me</code> to check a credential and see which account it belongs to.</p>`,
  }
}

function paging(facts: Facts): Chapter {
  return {
    id: 'paging',
    title: 'Lists and pages',
    html: `<p>Every list has the same envelope. <code>count</code> is the number of all items that match your filters;
<code>limit</code> and <code>offset</code> are the values that were applied; <code>has_more</code> is true when another page follows.</p>
${codeBlock('envelope', 'json', snippets.envelope)}
<p><code>limit</code> is 50 by default and at most 500 for devices, and 50 and at most 200 for events. A higher <code>limit</code> is lowered to the maximum.
The other lists are complete unless you send <code>limit</code> or <code>offset</code>. The order is stable: by id, and events newest first.</p>
${codeBlock('all-events', 'javascript', snippets.allEvents(facts.publicUrl, credentialOf(facts)))}`,
  }
}

function times(facts: Facts): Chapter {
  return {
    id: 'times',
    title: 'Times and units',
    html: `<p>Requests and responses follow the same rules:</p>
<ul>
<li>A text without a zone, <code>2026-05-11 14:03:27</code>, is the local time of the account as shown on the platform.</li>
<li>An integer <code>timestamp</code> is Unix seconds: the same instant everywhere. Compare and sort by it.</li>
<li>Times of API keys are epoch milliseconds.</li>
</ul>
<p>Events take <code>from</code> and <code>to</code> in ISO 8601, both inclusive. With an offset or <code>Z</code> they are instants; without one they are
local time of the account; a date alone is the start or the end of that day. History takes whole days, <code>YYYY-MM-DD</code>.</p>
${codeBlock('since-instant', 'shell', snippets.sinceInstant(facts.publicUrl, credentialOf(facts)))}
<p>Speeds are in km/h, distances in km, altitudes and radii in metres, courses in degrees clockwise from north, positions in WGS84.
Unknown values are <code>null</code>.</p>`,
  }
}

function limits(facts: Facts): Chapter {
  const [base, credential] = [facts.publicUrl, credentialOf(facts)]
  const { rateLimitMax, rateLimitWindowMs } = facts
  const windowText = rateLimitWindowMs === 60_000 ? 'per minute' : `per ${rateLimitWindowMs / 1000} seconds`
  return {
    id: 'limits',
    title: 'Rate limits and retries',
    html: `<p>Each credential may send <strong>${rateLimitMax} requests ${windowText}</strong>. Requests without a valid credential count per IP address, as do
those with the demo token. An account can create API keys at a fifth of that rate. Every response, errors included, shows the current state:</p>
<dl class="rows">
<div><dt><code>RateLimit-Limit</code></dt><dd>requests per window</dd></div>
<div><dt><code>RateLimit-Remaining</code></dt><dd>requests left in this window</dd></div>
<div><dt><code>RateLimit-Reset</code></dt><dd>seconds until the next window</dd></div>
</dl>
<p>After a 429 or 503, wait at least the number of seconds in <code>Retry-After</code>. Double the wait each time and add random jitter, so that
clients do not retry in step:</p>
<div class="pair">${codeBlock('back-off-javascript', 'javascript', snippets.backOffJavaScript(base, credential))}
${codeBlock('back-off-python', 'python', snippets.backOffPython(base, credential))}</div>
<p>Poll positions no more than once every 30 seconds. One <code>GET /v1/devices?limit=500</code> returns up to 500 devices and counts as one request.
Webhooks are planned and not available yet: poll <code>GET /v1/events</code>.</p>`,
  }
}

function caching(facts: Facts): Chapter {
  return {
    id: 'caching',
    title: 'Caching and compression',
    html: `<p>Every 200 to a <code>GET</code> carries an <code>ETag</code>. Send it back in <code>If-None-Match</code>: while nothing has changed,
the response is a <code>304</code> without a body. It counts as a request. Devices and locations also carry <code>Cache-Control: max-age</code> and
<code>Age</code>, the seconds since the data was requested from the platform: until <code>max-age</code>, another request gets the same data.</p>
<p>Send <code>Accept-Encoding: br</code> or <code>gzip</code>, and bodies over 1 KiB are compressed. Most HTTP clients do so by themselves.</p>
<p>While the platform is unavailable, devices and locations are a 503. If old data serves you better, say how old it may be:</p>
${codeBlock('stale-if-error', 'shell', snippets.staleIfError(facts.publicUrl, credentialOf(facts)))}
<p>For at most an hour, the response then holds the last known devices. <code>Age</code> is their age, and only such a response carries <code>Cache-Status</code>.</p>`,
  }
}

function errorEntry(code: ErrorCode, { demoToken }: Facts): string {
  const { when, remedy } = errorGuide[code]
  const rehearsal =
    demoToken === undefined
      ? ''
      : `<p>To rehearse it, send the demo token and <code>Prefer: error=${code}</code> to any path that takes a credential.</p>`
  return `<article id="error-${code}" tabindex="-1"><h3><code>${code}</code> <span class="status">${errorTable[code][0]}</span></h3>
<p>${prose(when)}</p><p class="remedy"><strong>What to do:</strong> ${prose(remedy)}</p>${rehearsal}</article>`
}

function errors(facts: Facts): Chapter {
  const codes = Object.keys(errorTable) as ErrorCode[]
  return {
    id: 'errors',
    title: 'Errors',
    html: `<p>All errors have the same body: <code>error</code> is a code for programs, <code>message</code> a text for people, <code>docs</code> a link to the
entry below, and <code>param</code> the parameter that caused the error, if any.</p>
${codeBlock('error-body', 'json', snippets.errorBody(facts.publicUrl))}
<p>Every response carries an <code>X-Request-Id</code>. Quote it when you report a problem.</p>
<div class="errors">${codes.map((code) => errorEntry(code, facts)).join('\n')}</div>`,
  }
}

/** The chapters between the map and the interactive reference, in reading order. */
export const introduction = (facts: Facts): Chapter[] =>
  [firstRequest, credentials, paging, times, limits, caching, errors].map((chapter) => chapter(facts))
