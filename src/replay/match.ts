/** Which recorded exchange matches a request, and which comes nearest to one that none matches. */
import { type Exchange, fileNameOf, type PlatformRequest } from './exchange.js'

/** As a recorded value: any value, as long as the parameter is sent. In `any`: every parameter. */
const wildcard = '*'

/** A parameter in which request and recording differ; a side that lacks it is absent. */
type Difference = { name: string; sent?: string; recorded?: string }

function differencesOf({ query }: PlatformRequest, exchange: Exchange): Difference[] {
  const { any = [] } = exchange
  const recorded = Object.entries(exchange.query)
    .filter(([name, value]) => value !== query[name] && (query[name] === undefined || value !== wildcard))
    .map(([name, value]) => ({ name, ...(query[name] === undefined ? {} : { sent: query[name] }), recorded: value }))
  const extra = Object.entries(query)
    .filter(([name]) => exchange.query[name] === undefined && !any.includes(name) && !any.includes(wildcard))
    .map(([name, sent]) => ({ name, sent }))
  return [...recorded, ...extra]
}

/** The exchange without a difference that names most parameters of the request; an exact value wins over `*`. */
export function match(request: PlatformRequest, exchanges: readonly Exchange[]): Exchange | undefined {
  const score = ({ query }: Exchange) =>
    Object.values(query).reduce((sum, value) => sum + (value === wildcard ? 100 : 101), 0)
  const [best] = exchanges
    .filter((exchange) => exchange.action === request.action && differencesOf(request, exchange).length === 0)
    .sort((a, b) => score(b) - score(a))
  return best
}

/** The exchange that comes nearest to a request without a match, and where they differ. */
export function nearest(request: PlatformRequest, exchanges: readonly Exchange[]) {
  const same = exchanges.filter((exchange) => exchange.action === request.action)
  const [best] = (same.length > 0 ? same : exchanges).toSorted(
    (a, b) => differencesOf(request, a).length - differencesOf(request, b).length,
  )
  if (best === undefined) return undefined
  const found = { file: fileNameOf(best), differs: differencesOf(request, best) }
  return best.action === request.action ? found : { ...found, action: best.action }
}
