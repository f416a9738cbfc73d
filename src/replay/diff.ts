/** Comparison of two gateways: every documented request about a folder's account, and the differences of the responses. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Folder } from './folder.js'
import { jsonIn } from './json-lines.js'

/** Where two JSON values differ; a side that lacks the place is `undefined`. */
type JsonDifference = { path: string; left: unknown; right: unknown }

/** A gateway's response without the headers that necessarily differ. */
type GatewayResponse = { status: number; headers: Record<string, string>; body: unknown }

/** Headers of the connection (RFC 9110, 7.6.1), of the body's encoding on it, and of a single request. */
const differing =
  /^(connection|keep-alive|transfer-encoding|te|trailer|upgrade|proxy-.*|content-(length|encoding)|x-request-id|date|age|ratelimit-.*)$/

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

/** All differences of two JSON values, outermost first. */
export function compare(left: unknown, right: unknown, path = '$'): JsonDifference[] {
  if (!isObject(left) || !isObject(right) || Array.isArray(left) !== Array.isArray(right)) {
    return Object.is(left, right) ? [] : [{ path, left, right }]
  }
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])]
  const step = (key: string) => (Array.isArray(left) ? `${path}[${key}]` : `${path}.${key}`)
  return keys.flatMap((key) => compare(left[key], right[key], step(key)))
}

/** Sends a GET and follows no redirect. @throws Error naming the base URL when nothing responds there, or the response is cut. */
export async function fetchFrom(base: string, path: string, init: RequestInit) {
  try {
    const response = await fetch(base + path, { redirect: 'manual', ...init })
    // Unlike `text()`, this keeps a byte order mark.
    const text = Buffer.from(await response.arrayBuffer()).toString()
    return { status: response.status, headers: Object.fromEntries(response.headers), text }
  } catch (error) {
    const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
    throw new Error(`${base} does not respond (${cause?.code ?? cause?.message ?? message})`)
  }
}

/**
 * Sends a request to a gateway; `base` ends in `/api`. After a 429 or an overload it waits for `Retry-After` and tries again.
 * @throws Error as `fetchFrom`.
 */
export async function send(base: string, path: string, credential: string, retries = 3): Promise<GatewayResponse> {
  const init = { headers: { authorization: `Bearer ${credential}` } }
  const { status, headers, text } = await fetchFrom(base, path, init)
  const body = jsonIn(text) ?? text
  if (retries > 0 && isTemporary(status, body)) {
    await wait(1000 * Number(headers['retry-after'] ?? 1))
    return send(base, path, credential, retries - 1)
  }
  const compared = Object.entries(headers).filter(([name]) => !differing.test(name))
  return { status, headers: Object.fromEntries(compared), body }
}

const isTemporary = (status: number, body: unknown): boolean =>
  status === 429 || (status === 503 && isObject(body) && /overload/i.test(String(body.message)))

type Log = (line: string) => void

async function list(base: string, path: string, credential: string, log: Log): Promise<Record<string, unknown>[]> {
  const { status, body } = await send(base, path, credential)
  if (status !== 200) log(`${path} has status ${status}: nothing that it lists is compared`)
  const data = isObject(body) ? body.data : undefined
  return Array.isArray(data) ? data.filter(isObject) : []
}

const maxPage = 200

/** The paths of all pages of events, and the events on them. */
async function eventPages(base: string, credential: string, log: Log) {
  const pages: { path: string; events: Record<string, unknown>[] }[] = []
  let isFull = true
  for (let offset = 0; isFull; offset += maxPage) {
    const path = `/v1/events?limit=${maxPage}${offset === 0 ? '' : `&offset=${offset}`}`
    const events = await list(base, path, credential, log)
    pages.push({ path, events })
    isFull = events.length === maxPage
  }
  return pages
}

/** The documented requests about a folder's account; ids come from the gateway at `base`. Logs each of its lists that fails. */
export async function documentedPaths(folder: Folder, base: string, credential: string, log: Log): Promise<string[]> {
  const ids = async (path: string) => (await list(base, path, credential, log)).map(({ id }) => String(id))
  const devices = [...(await ids('/v1/devices?limit=500')), '999999999', 'x']
  const fences = [...(await ids('/v1/geofences')), '999999999']
  const pages = await eventPages(base, credential, log)
  const types = new Set(pages.flatMap(({ events }) => events).flatMap(({ type, kind }) => [`${type}`, `${kind}`]))
  const badHistories = ['', '?from=2026-02-30&to=2026-03-01', '?from=2026-03-02&to=2026-03-01']
  return [
    ...['/v1/me', '/v1/devices', '/v1/devices?limit=2&offset=1', '/v1/devices?limit=none', '/v1/nothing'],
    ...['online', 'offline', 'moving', 'asleep'].map((status) => `/v1/devices?status=${status}`),
    ...[`ids=${devices.slice(0, 3)}`, 'updated_since=1', 'format=geojson'].map((query) => `/v1/devices?${query}`),
    ...devices.flatMap((id) => [`/v1/devices/${id}`, `/v1/devices/${id}/location`]),
    ...['/v1/geofences', '/v1/geofences?format=geojson'],
    ...fences.map((id) => `/v1/geofences/${id}`),
    ...pages.map(({ path }) => path),
    ...['/v1/events', '/v1/events?limit=7&offset=27', '/v1/events?limit=0', '/v1/events?from=yesterday'],
    ...devices.map((id) => `/v1/events?device_id=${id}`),
    ...[`device_ids=${devices.slice(0, 2)}`, `after_id=${pages[0]?.events.at(-1)?.id}`].map(
      (query) => `/v1/events?${query}`,
    ),
    ...[...types].map((type) => `/v1/events?type=${encodeURIComponent(type)}`),
    ...eventWindows(folder),
    ...histories(folder),
    ...badHistories.map((query) => `/v1/history/${devices[0]}${query}`),
    ...['/v1/alerts', '/v1/services', '/v1/drivers', '/v1/services?device_id=999999999'],
    ...devices.map((id) => `/v1/services?device_id=${id}`),
  ]
}

const queriesOf = (folder: Folder, action: string) =>
  folder.exchanges.filter((exchange) => exchange.action === action).map(({ query }) => query)

const eventWindows = (folder: Folder): string[] =>
  queriesOf(folder, 'get_events')
    .filter(({ date_from, date_to, page }) => (date_from ?? date_to) !== undefined && (page ?? '1') === '1')
    .map(({ device_id, type, date_from: from, date_to: to }) => {
      const wanted = Object.entries({ device_id, type, from: from?.replace(' ', 'T'), to: to?.replace(' ', 'T') })
      const sent = wanted.filter((entry): entry is [string, string] => entry[1] !== undefined)
      return `/v1/events?${new URLSearchParams(sent)}`
    })

const histories = (folder: Folder): string[] =>
  queriesOf(folder, 'get_history')
    .filter(({ from_date, to_date }) => from_date !== undefined && to_date !== undefined)
    .map(({ device_id, from_date, to_date }) => `/v1/history/${device_id}?from=${from_date}&to=${to_date}`)
    .flatMap((path) => [path, `${path}&positions=false`, `${path}&format=geojson`])
