/** The chapters after the operations: errors, what the service promises, versions, planned webhooks, the changelog. Pure. */
import { type ErrorCode, errorTable } from '../errors.js'
import type { Chapter, Facts } from './chapter.js'
import { errorGuide } from './error-guide.js'
import { codeBlock, prose } from './html.js'
import * as snippets from './snippets.js'
import { eventNames, exampleMessage } from './webhook.js'

function errorEntry(code: ErrorCode, { demoToken }: Facts): string {
  const { when, remedy } = errorGuide[code]
  const rehearse =
    demoToken === undefined ? '' : ` <a href="#rehearsal">Rehearse</a> it with <code>Prefer: error=${code}</code>.`
  return `<article id="error-${code}" tabindex="-1"><h3><code>${code}</code> <span class="status">${errorTable[code][0]}</span></h3>
<p>${prose(when)}</p><p class="remedy"><strong>What to do:</strong> ${prose(remedy)}${rehearse}</p></article>`
}

function errors(facts: Facts): Chapter {
  const codes = Object.keys(errorTable) as ErrorCode[]
  return {
    id: 'errors',
    title: 'Errors',
    html: `<p>All errors have the same body: <code>error</code> is a code for programs, <code>message</code> a text for people, <code>docs</code> a link to the
entry below, and <code>param</code> the parameter that caused the error, if any.</p>
${codeBlock('error-body', 'json', snippets.errorBody)}
<div class="errors">${codes.map((code) => errorEntry(code, facts)).join('\n')}</div>`,
  }
}

const service: Chapter = {
  id: 'service',
  title: 'Service and acceptable use',
  html: `<dl class="cards">
<div><dt>99.9 % available</dt><dd>The target for each month.</dd></div>
<div><dt>300 ms</dt><dd>95 % of the responses are faster; this is a target as well.</dd></div>
<div><dt>24 hours</dt><dd>The target for a response from support.</dd></div>
</dl>
<p><strong>Maintenance</strong> is announced by e-mail to registered integrators at least 48 hours ahead and takes place preferably on Sundays between 02:00 and
04:00 UTC.</p>
<p><strong>Acceptable use.</strong> The API is only for devices registered in your account.</p>
<ul>
<li>Do not resell the access as a separate service.</li>
<li>Do not try to reach the data of other accounts: it is forbidden and may cause immediate suspension.</li>
<li>Do not circumvent the rate limits.</li>
<li>Have the authorization of vehicle owners and drivers to process their location data.</li>
</ul>
<p>Credentials may be suspended or revoked for violations, abuse or risk to the stability of the platform.</p>
<p><strong>For certified partners</strong> there is a test environment with a simulated fleet of 50 devices, 90 days of events, preset geofences and credentials of
its own. Its data can be reset at any time.</p>`,
}

const versioning = (version: string): Chapter => ({
  id: 'versioning',
  title: 'Versions',
  html: `<p>The version is part of the path: <code>/v1/</code>. The interface is version ${version}, stable.</p>
<ul>
<li>New fields, parameters and operations appear within version 1. Clients must tolerate fields they do not know.</li>
<li>Only a new major version may break compatibility. The previous one then stays active for at least 12 months.</li>
<li>Changes are announced in the <a href="#changelog">changelog</a>, and by e-mail to registered integrators 90 days ahead.</li>
</ul>`,
})

const webhooks: Chapter = {
  id: 'webhooks',
  title: 'Webhooks (planned)',
  html: `<p><strong>Not available yet.</strong> No webhook can be registered and none is sent: poll <code>GET /v1/events</code>. Webhooks are planned for certified
partners. You will register a URL, and the service will send an event to it as a <code>POST</code> with this body:</p>
${codeBlock('webhook', 'json', JSON.stringify(exampleMessage, null, 2))}
<p>Planned values of <code>event</code>: ${eventNames.map((name) => `<code>${name}</code>`).join(', ')}. Registration, signatures and retries are undecided.</p>`,
}

/** Headings, lists and paragraphs of the Markdown of CHANGELOG.md, without its title. */
function markdown(text: string): string {
  const [, ...blocks] = text.trim().split(/\n{2,}/)
  const elements = blocks.map((block) => {
    if (block.startsWith('## ')) return `<h3>${prose(block.slice(3))}</h3>`
    if (!block.startsWith('- ')) return `<p>${prose(block)}</p>`
    const items = block.slice(2).split(/\n- /)
    return `<ul>${items.map((item) => `<li>${prose(item)}</li>`).join('\n')}</ul>`
  })
  return elements.join('\n')
}

export const terms = (facts: Facts, version: string, changelog: string): Chapter[] => [
  errors(facts),
  service,
  versioning(version),
  webhooks,
  { id: 'changelog', title: 'Changelog', html: markdown(changelog) },
]
