/** The headers of a response that stay in a recording. */
import type { RecordedResponse } from './exchange.js'
import { vocabulary } from './vocabulary.js'

/** The path of a redirect, if it has only words of the platform; any other becomes `/login` or `/`. */
function pathIn(location: string): string {
  const base = 'http://platform'
  const path = URL.canParse(location, base) ? new URL(location, base).pathname : '/'
  if (/^[a-z/_-]{1,40}$/.test(path) && path.split(/[/_-]/).every((word) => word === '' || vocabulary.has(word)))
    return path
  return /\/(login|authentication)\b/.test(path) ? '/login' : '/'
}

/** Only the headers that a client acts on; a redirect keeps its path and nothing else. */
export function headersOf(headers: Record<string, string> = {}): Pick<RecordedResponse, 'headers'> {
  const kept: Record<string, string> = {}
  for (const [name, raw] of Object.entries(headers)) {
    if (name === 'location') kept[name] = pathIn(raw)
    if (/^(retry-after|x-ratelimit-(limit|remaining))$/.test(name) && /^\d{1,9}$/.test(raw)) kept[name] = raw
  }
  return Object.keys(kept).length > 0 ? { headers: kept } : {}
}
