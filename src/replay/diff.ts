/** Every documented question about a folder's account, put to two gateways over HTTP, and what differs in the answers. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Folder } from './exchange.js'

/** Where two JSON values differ; a side that lacks the place is `undefined`. */
type JsonDifference = { path: string; left: unknown; right: unknown }

/** What one gateway said; headers that cannot be equal on two of them are left out. */
export type Reply = { status: number; headers: Record<string, string>; body: unknown }

const unequalHeaders = /^(x-request-id|date|ratelimit-.*)$/

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

/**
 * Asks a gateway; `base` ends in `/api`. A caller turned away for asking too much, or because the gateway is overloaded, waits as
 * long as it is told and asks again, three times at most.
 * @throws whatever `fetch` throws when nothing listens there.
 */
export async function ask(base: string, question: string, credential: string, tries = 3): Promise<Reply> {
  const init = { headers: { authorization: `Bearer ${credential}` }, redirect: 'manual' } as const
  const response = await fetch(base + question, init)
  const body = jsonOr(await response.text())
  if (tries > 0 && isTurnedAway(response.status, body)) {
    await wait(1000 * Number(response.headers.get('retry-after') ?? 1))
    return ask(base, question, credential, tries - 1)
  }
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !unequalHeaders.test(name)))
  return { status: response.status, headers, body }
}

const isTurnedAway = (status: number, body: unknown): boolean =>
  status === 429 || (status === 503 && isObject(body) && /overload/i.test(String(body.message)))

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The items of a list answer that carry an id or a type. */
async function list(base: string, question: string, credential: string): Promise<Record<string, unknown>[]> {
  const { body } = await ask(base, question, credential)
  const data = isObject(body) ? body.data : undefined
  return Array.isArray(data) ? data.filter(isObject) : []
}

/** The documented questions (spec.md, Endpoints) about a folder's account; ids come from the gateway at `base`. */
export async function questionsOf(folder: Folder, base: string, credential: string): Promise<string[]> {
  const ids = async (question: string) => (await list(base, question, credential)).map(({ id }) => String(id))
  const devices = [...(await ids('/v1/devices?limit=500')), '999999999', 'x']
  const fences = [...(await ids('/v1/geofences')), '999999999']
  const types = new Set((await list(base, '/v1/events?limit=200', credential)).map(({ type }) => String(type)))
  const known = devices[0]
  return [
    ...['/v1/me', '/v1/devices', '/v1/devices?limit=2&offset=1', '/v1/devices?limit=none', '/v1/nothing'],
    ...['online', 'offline', 'moving', 'asleep'].map((status) => `/v1/devices?status=${status}`),
    ...devices.flatMap((id) => [`/v1/devices/${id}`, `/v1/devices/${id}/location`]),
    '/v1/geofences',
    ...fences.map((id) => `/v1/geofences/${id}`),
    ...['/v1/events', '/v1/events?limit=7&offset=27', '/v1/events?limit=0', '/v1/events?from=yesterday'],
    ...devices.map((id) => `/v1/events?device_id=${id}`),
    ...[...types].map((type) => `/v1/events?type=${encodeURIComponent(type)}`),
    ...eventWindows(folder),
    ...histories(folder),
    ...['', '?from=2026-02-30&to=2026-03-01', '?from=2026-03-02&to=2026-03-01'].map((q) => `/v1/history/${known}${q}`),
    ...['/v1/alerts', '/v1/services', '/v1/drivers', '/v1/services?device_id=999999999'],
    ...devices.map((id) => `/v1/services?device_id=${id}`),
  ]
}

const queriesOf = (folder: Folder, action: string) =>
  folder.exchanges.filter((exchange) => exchange.action === action).map(({ query }) => query)

const eventWindows = (folder: Folder): string[] =>
  queriesOf(folder, 'get_events')
    .filter(({ date_from, date_to, page }) => (date_from ?? date_to) !== undefined && page === undefined)
    .map(({ device_id, type, date_from: from, date_to: to }) => {
      const wanted = Object.entries({ device_id, type, from: from?.replace(' ', 'T'), to: to?.replace(' ', 'T') })
      const sent = wanted.filter((entry): entry is [string, string] => entry[1] !== undefined)
      return `/v1/events?${new URLSearchParams(sent)}`
    })

const histories = (folder: Folder): string[] =>
  queriesOf(folder, 'get_history')
    .filter(({ from_date, to_date }) => from_date !== undefined && to_date !== undefined)
    .map(({ device_id, from_date, to_date }) => `/v1/history/${device_id}?from=${from_date}&to=${to_date}`)
