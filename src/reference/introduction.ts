/** The human introduction of the page, chapter by chapter. Pure; knows no HTTP. */
import { type ErrorCode, errorTable } from '../errors.js'
import { explanations } from './error-guide.js'
import { codeBlock, escaped, prose } from './html.js'
import * as snippets from './snippets.js'

/** What the page tells of the service it stands on. */
export interface Facts {
  /** The API's address as callers see it, without a trailing slash. */
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
      ? 'Put your own credential where <code>&lt;API_KEY&gt;</code> stands.'
      : 'These work as pasted: they carry the demo token of this service.'
  return {
    id: 'first-request',
    title: 'The first request',
    html: `<p>One header is all it takes. ${lead}</p>
${codeBlock('first-curl', 'shell', snippets.firstCurl(base, credential))}
<div class="pair">${codeBlock('first-javascript', 'javascript', snippets.firstJavaScript(base, credential))}
${codeBlock('first-python', 'python', snippets.firstPython(base, credential))}</div>
<p>All paths are below <code>${escaped(base)}</code>. Answers are JSON in UTF-8, whatever <code>Accept</code> says.
Ignore fields you do not know: new ones may come at any time within version 1.</p>`,
  }
}

function credentials(facts: Facts): Chapter {
  const { publicUrl: base, demoToken, maxKeysPerAccount } = facts
  const demo =
    demoToken === undefined
      ? 'This service offers none.'
      : `Here it is <code>${escaped(demoToken)}</code>. It reads a simulated fleet and manages nothing.`
  return {
    id: 'credentials',
    title: 'The three credentials',
    html: `<p>Each stands in <code>Authorization: Bearer …</code> and sees exactly one account. Keep them on your server: not in a
browser, not in an app, not in public code.</p>
<dl class="cards">
<div><dt>API key</dt><dd>Made here from the platform hash, for one integration each. What production should use: one that leaks is
revoked and replaced, and nothing changes on the platform. It begins with <code>gps_live_</code> and is shown once.</dd></div>
<div><dt>Platform hash</dt><dd>The <code>user_api_hash</code> of your account on the tracking platform. Reads everything the account
may read, and alone makes, lists and revokes API keys.</dd></div>
<div><dt>Demo token</dt><dd>Shared by everybody; sample data without an account. ${demo}</dd></div>
</dl>
<p>A key lives 365 days unless you say otherwise (1 to 3650), and an account holds at most ${maxKeysPerAccount} active ones. In a key's last
30 days every answer to it carries <code>X-Api-Key-Expires</code>.</p>
${codeBlock('make-key', 'shell', snippets.makeKey(base))}
${codeBlock('list-keys', 'shell', snippets.listKeys(base))}
${codeBlock('revoke-key', 'shell', snippets.revokeKey(base))}
<p>Revoking works at once and for good. Whether a credential works, and whose it is, tells <code>GET /v1/me</code>.</p>`,
  }
}

function paging(facts: Facts): Chapter {
  return {
    id: 'paging',
    title: 'Lists and pages',
    html: `<p>Every list comes in one envelope. <code>count</code> is the number of all items that match your filters;
<code>limit</code> and <code>offset</code> are what was applied; <code>has_more</code> says whether to go on.</p>
${codeBlock('envelope', 'json', snippets.envelope)}
<p>Devices: 50 at a time unless you send a <code>limit</code>, at most 500. Events: 50, at most 200. A higher limit is lowered, not refused.
The other lists answer everything unless asked for less. Order is stable: by id, events newest first.</p>
${codeBlock('all-events', 'javascript', snippets.allEvents(facts.publicUrl, credentialOf(facts)))}`,
  }
}

function times(facts: Facts): Chapter {
  return {
    id: 'times',
    title: 'Times and units',
    html: `<p>One rule, in and out:</p>
<ul>
<li>A text without a zone, <code>2026-05-11 14:03:27</code>, is the wall clock of the account, as its holder sees it on the platform.</li>
<li>An integer <code>timestamp</code> is Unix seconds: an instant, the same everywhere. Compare and sort by it.</li>
<li>Times of API keys are epoch milliseconds.</li>
</ul>
<p>Events take <code>from</code> and <code>to</code> in ISO 8601, both inclusive. With an offset or <code>Z</code> they are instants; without one they are the
account's clock already; a date alone means its start or its end. History takes whole days, <code>YYYY-MM-DD</code>.</p>
${codeBlock('since-instant', 'shell', snippets.sinceInstant(facts.publicUrl, credentialOf(facts)))}
<p>Speeds are km/h, distances km, altitudes and radii metres, courses degrees clockwise from north, positions WGS84.
What is unknown is <code>null</code>, never a guess.</p>`,
  }
}

function limits(facts: Facts): Chapter {
  const [base, credential] = [facts.publicUrl, credentialOf(facts)]
  const { rateLimitMax, rateLimitWindowMs } = facts
  const windowText = rateLimitWindowMs === 60_000 ? 'a minute' : `in ${rateLimitWindowMs / 1000} seconds`
  return {
    id: 'limits',
    title: 'Limits, and how to back off',
    html: `<p><strong>${rateLimitMax} requests ${windowText}</strong> for each credential; requests without a good one are counted by address, and so are
callers of the demo. Every answer, errors included, says where you stand:</p>
<dl class="rows">
<div><dt><code>RateLimit-Limit</code></dt><dd>requests per window</dd></div>
<div><dt><code>RateLimit-Remaining</code></dt><dd>how many are left in this one</dd></div>
<div><dt><code>RateLimit-Reset</code></dt><dd>seconds until the next begins</dd></div>
</dl>
<p>On 429 and 503 wait at least as long as <code>Retry-After</code> says, twice as long each time, with a little chance so that many clients do not
return together:</p>
<div class="pair">${codeBlock('back-off-javascript', 'javascript', snippets.backOffJavaScript(base, credential))}
${codeBlock('back-off-python', 'python', snippets.backOffPython(base, credential))}</div>
<p>Positions are worth asking for every 30 seconds or more rarely; one <code>GET /v1/devices?limit=500</code> brings 500 vehicles for the price of one
request. Webhooks are planned and not delivered today: poll <code>GET /v1/events</code>.</p>`,
  }
}

function errorEntry(code: ErrorCode): string {
  const { when, remedy } = explanations[code]
  return `<article id="error-${code}" tabindex="-1"><h3><code>${code}</code> <span class="status">${errorTable[code][0]}</span></h3>
<p>${prose(when)}</p><p class="remedy"><strong>What to do:</strong> ${prose(remedy)}</p></article>`
}

function errors({ publicUrl }: Facts): Chapter {
  const codes = Object.keys(errorTable) as ErrorCode[]
  return {
    id: 'errors',
    title: 'Errors',
    html: `<p>One shape for all of them: <code>error</code> for programs, <code>message</code> for people, <code>docs</code> with a link to the entry below, and
<code>param</code> where a parameter is to blame.</p>
${codeBlock('error-body', 'json', snippets.errorBody(publicUrl))}
<p>Every answer carries an <code>X-Request-Id</code>. Quote it when you ask about one.</p>
<div class="errors">${codes.map(errorEntry).join('\n')}</div>`,
  }
}

/** The chapters between the map and the interactive reference, in reading order. */
export const introduction = (facts: Facts): Chapter[] =>
  [firstRequest, credentials, paging, times, limits, errors].map((chapter) => chapter(facts))
