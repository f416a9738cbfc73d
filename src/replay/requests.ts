/** Requests to the real platform while recording, and their responses as they are recorded. */
import { fetchFrom } from './diff.js'
import type { PlatformRequest, RecordedResponse } from './exchange.js'
import { jsonIn } from './json-lines.js'

const timeoutMs = 60_000

type PlatformResponse = Awaited<ReturnType<typeof fetchFrom>>

export const timeout = (): AbortSignal => AbortSignal.timeout(timeoutMs)

/** @throws Error as `fetchFrom`, and for a status that no exchange may have. */
export async function forward(platform: string, action: string, search: URLSearchParams, signal = timeout()) {
  const init = { headers: { accept: 'application/json' }, signal }
  const response = await fetchFrom(platform.replace(/(?<!\/)\/+$/, ''), `/${action}?${search}`, init)
  if (response.status > 599) throw new Error(`${platform} responds with status ${response.status}`)
  return response
}

/** Sends a request of our own. @throws Error as `forward`. */
export const sendAs = (hash: string, platform: string, { action, query }: PlatformRequest): Promise<PlatformResponse> =>
  forward(platform, action, new URLSearchParams({ ...query, lang: 'en', user_api_hash: hash }))

/** As it is recorded. */
export function responseOf({ status, headers, text }: PlatformResponse): RecordedResponse {
  const bom = text.startsWith('\uFEFF')
  const body = bodyOf(bom ? text.slice(1) : text)
  return { ...body, headers, ...(bom ? { bom } : {}), ...(status === 200 ? {} : { status }) }
}

function bodyOf(text: string): RecordedResponse {
  if (text === '') return {}
  const json = jsonIn(text)
  if (json !== undefined) return { json }
  return text.trimStart().startsWith('<') ? { html: text } : { text }
}

/** Of the hash. Some platforms refuse with a redirect to their login page, or with 200 and `{"status":0}`. */
export function isRefusal({ status = 200, json }: RecordedResponse): boolean {
  const { status: flag } = (json ?? {}) as { status?: unknown }
  return (
    status === 401 || status === 419 || (status >= 300 && status < 400) || [0, '0', false].some((no) => no === flag)
  )
}

/** An API sends no page. */
export const isSuccess = (response: RecordedResponse): boolean =>
  (response.status ?? 200) < 300 && response.html === undefined && !isRefusal(response)

export async function validateHash(platform: string, hash: string): Promise<void> {
  const response = responseOf(await sendAs(hash, platform, { action: 'get_user_data', query: {} }))
  if (isRefusal(response)) throw new Error(`${platform} rejects the hash in PLATFORM_HASH`)
  if (response.status === 404)
    throw new Error(`${platform}/get_user_data has status 404: is it the base URL of the platform, with /api?`)
}
