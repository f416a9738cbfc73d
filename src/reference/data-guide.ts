/** The chapters about data: times, kinds of events, conditional requests, stale data, rehearsal. Pure. */
import { eventKinds } from '../resources/event-kind.js'
import { type Chapter, type Facts, rows } from './chapter.js'
import { codeBlock, codeTabs, prose } from './html.js'
import * as snippets from './snippets.js'

const times: Chapter = {
  id: 'times',
  title: 'Times and their clocks',
  html: `<p>There are three clocks:</p>
<ul>
<li>An integer <code>timestamp</code> or <code>moved_at</code> is Unix seconds: the same instant everywhere. Compare and sort by it.</li>
<li>A text without a zone, <code>2026-05-11 14:03:27</code>, is the wall clock of the account as shown on the platform. <code>utc_offset</code> in <code>GET
/v1/me</code> is its distance from UTC, null where the platform does not say.</li>
<li>Times of API keys are epoch milliseconds.</li>
</ul>
${rows([
  [
    'device timestamp',
    'The last fix, in Unix seconds: when the position was measured. Without one, the last sign of life, or 0.',
  ],
  ['last_seen', 'The time that the platform shows for the device: the fix or a later sign of life.'],
  [
    'moved_at',
    'When the device last moved, in Unix seconds. <code>stopped_seconds</code> and <code>idle_seconds</code> are durations.',
  ],
  [
    'event timestamp',
    'As the platform writes it. Its zone cannot be known; on most installations it is the wall clock of the account.',
  ],
  ['created_at', 'Of a geofence: as the platform writes it. Of an API key: epoch milliseconds.'],
  [
    'history time',
    'The wall clock of the account; <code>timestamp</code> beside it is null where the offset is unknown.',
  ],
])}
<p>Events take <code>from</code> and <code>to</code> in ISO 8601, both inclusive. With an offset or <code>Z</code> they are instants; without one they are
wall clock; a date alone is the start or the end of that day. History takes whole days of the account, <code>YYYY-MM-DD</code>.</p>
${codeBlock('since-instant', 'shell', snippets.sinceInstant)}
<p>Daylight saving time adds one hour in the period that the account's settings on the platform name: dates and rules on the standard clock, a country by the
IANA time zone database. Settings that cannot be read mean standard time all year.</p>
<p>Speeds are in km/h, distances in km, altitudes and radii in metres, courses in degrees clockwise from north, positions in WGS84.
Unknown values are <code>null</code>; an unknown speed, course or altitude of a device is 0.</p>
<p>An <code>address</code> that the platform does not send stays <code>null</code>, unless the operator allows look-ups with the platform's geocoder
(<code>ADDRESS_LOOKUPS_PER_MINUTE</code>). Lists show the addresses that are known already.</p>`,
}

const kindRow = ({ kind, meaning, words }: (typeof eventKinds)[number]): [string, string] => [
  kind,
  [prose(meaning), ...words.map((word) => `<code>${word}</code>`)].join(' '),
]

const kindsOfEvents: Chapter = {
  id: 'event-kinds',
  title: 'Kinds of events',
  html: `<p>An event has two names. <code>type</code> is the platform's word, in lower case, which may differ between installations. <code>kind</code> is one of the
values below, the same everywhere: use it in your code, and expect new kinds within version 1. The filter <code>type</code> takes a kind, a word of the
platform, or one of the older words <code>speeding</code> and <code>speed_exceeded</code>.</p>
<h3>Values of <code>kind</code>, and the platform's words for them</h3>
${rows(eventKinds.map(kindRow))}
<p>To follow events, send <code>after_id</code> with the greatest id you have: the response holds only later events, the oldest first.</p>`,
}

const conditional: Chapter = {
  id: 'conditional-requests',
  title: 'Conditional requests',
  html: `<p>Every successful <code>GET</code> below <code>/v1</code> carries an <code>ETag</code>. Send it back in <code>If-None-Match</code>: while nothing has
changed, the response is 304 without a body. It still counts as a request. A device that stands still does not change: <code>stopped_seconds</code> and
<code>idle_seconds</code> count on, and only their start and end give a new tag.</p>
${codeTabs('conditional', snippets.conditional)}
<p>Devices and locations carry <code>Cache-Control</code> with <code>max-age</code> and their <code>Age</code> in seconds; requests within that time return the same
data. API keys and <code>/v1/me</code> are <code>no-store</code>. Bodies over 1 KiB are compressed when <code>Accept-Encoding</code> allows <code>br</code> or <code>gzip</code>.</p>`,
}

const staleness: Chapter = {
  id: 'stale-data',
  title: 'Stale data instead of an error',
  html: `<p>When the platform is unavailable, the response is 503. If an old position serves you better than none, send
<code>Cache-Control: stale-if-error=&lt;seconds&gt;</code> with at most 3600: devices and locations then come from the last known list, if it is not older.</p>
${codeBlock('stale', 'shell', snippets.stale)}
<p>Such a response carries its <code>Age</code> and <code>Cache-Status: gps-fleet-gateway; hit; ttl=-&lt;seconds&gt;</code> (RFC 9211), the seconds since it became stale.
Without the request header a response is never stale. A revoked key or a credential that the platform has refused never gets one.</p>`,
}

const rehearsal: Chapter = {
  id: 'rehearsal',
  title: 'Rehearse an error',
  html: `<p>With the demo token, <code>Prefer: error=&lt;code&gt;</code> (RFC 7240) gives exactly that documented <a href="#errors">error</a>, headers included, and
<code>Preference-Applied</code>. <code>Prefer: code=&lt;status&gt;</code> is short for the error of that status: <code>invalid_token</code> for 401, <code>not_found</code> for 404. Use it to test how your client retries and
reports. Other credentials ignore the header.</p>
${codeBlock('rehearse', 'shell', snippets.rehearse)}`,
}

export const dataGuide = ({ demoToken }: Facts): Chapter[] => [
  times,
  kindsOfEvents,
  conditional,
  staleness,
  ...(demoToken === undefined ? [] : [rehearsal]),
]
