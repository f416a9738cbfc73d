/** The hooks of every request: response headers, checks of request line and headers, metrics and the request log line. */
import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.js'
import { maxAddressLength } from '../rate-limit/limiter.js'
import { maxHeaders, maxTargetBytes } from './server-limits.js'
import type { App, HttpOptions } from './types.js'

/** The status in log and metrics of a request whose connection ended before the response was sent, as proxies write it. */
export const closedByClient = 499

/** More than any chain of proxies writes. */
const maxForwarded = 1_024

/** IPv4 with a port, or brackets. Some proxies, such as Azure Application Gateway, forward ports: another one for each connection. */
const withPort = /(\d{1,3}(?:\.\d{1,3}){3}):\d+|\[([^[\],]+)\](?::\d+)?/g

/** No request line has a space in its target. */
const malformedPrefix = '/ '

/** Makes a malformed URL one that Fastify routes: else it runs no hook, and takes a proxy for the client. */
export function markMalformed(raw: IncomingMessage): void {
  raw.url = malformedPrefix + raw.url?.replaceAll('%', '')
}

/** Reports the outcome of a request to metrics, callers, outages and log. */
type Report = (reply: FastifyReply, status: number) => void

export function requestReport({ log, metrics, outages }: HttpOptions): Report {
  return ({ request, elapsedTime }, status) => {
    const { method, ip: sent, id: reqId, caller, errorCode: error } = request
    const route = request.routeOptions.url ?? null
    const elapsedMs = elapsedTime + (request.raw.waitedMs ?? 0)
    const counted = request.isRehearsed ? 'rehearsed' : status
    metrics.observeRequest({ method, route: route ?? 'none', status: counted, ms: elapsedMs })
    if (status < 400) outages.succeeded('gateway')
    const ms = Math.round(elapsedMs * 10) / 10
    const account = request.account?.id ?? request.accountId
    const key = caller?.key?.id
    // With HOST=:: an IPv4 client has an IPv6 address, too; the limits count it as IPv4.
    const address = sent.replace(/^::ffff:(?=\d+\.)/i, '')
    // A proxy may forward any text as an address, also a credential.
    const ip = isIP(address) > 0 && address.length <= maxAddressLength ? address : 'invalid'
    if (account !== undefined) metrics.callers.count(account, key ?? null, counted === 429)
    log.request({ reqId, method, route, status, ms, error, account, credential: caller?.credential, key, ip })
  }
}

/** To be installed before any route. These hooks run with every request, so they use callbacks instead of promises. */
export function installRequestHooks(app: App, report: Report, isDraining: () => boolean): void {
  app.addHook('onRequest', (request, reply, next) => {
    // Each reading of `ip` parses all of it: 16 KiB take 1.4 ms. The proxies write the end.
    const { headers } = request.raw
    const forwarded = headers['x-forwarded-for']
    if (typeof forwarded === 'string')
      headers['x-forwarded-for'] = forwarded.slice(-maxForwarded).replace(withPort, '$1$2')
    // Its client left while it waited for its turn: without `next`, it ends here.
    if (reply.raw.destroyed) return report(reply, closedByClient)
    reply.header('x-request-id', request.id)
    reply.header('x-content-type-options', 'nosniff')
    // Node drops what follows such a request in its packet: the rest of a body, say, would be taken for a request.
    if (headers.upgrade !== undefined) reply.header('connection', 'close')
    if ((request.routeOptions.url ?? request.url).includes('/v1/keys')) reply.header('cache-control', 'no-store')
    next(requestError(request))
  })
  app.addHook('onSend', (_request, reply, _payload, next) => {
    if (isDraining()) reply.header('connection', 'close')
    next()
  })
  app.addHook('onResponse', ({ raw }, reply, next) => {
    // Node finishes a response that could not be written, too.
    report(reply, raw.socket.errored ? closedByClient : reply.statusCode)
    next()
  })
}

/** What is wrong with the request line or the headers, found without waiting for the body. */
function requestError({ raw, url, is404 }: FastifyRequest): ApiError | undefined {
  if (url.length > maxTargetBytes) return new ApiError('uri_too_long')
  if (raw.rawHeaders.length >= 2 * maxHeaders) return new ApiError('headers_too_large')
  const message = headerProblem(raw)
  if (message !== undefined) return new ApiError('invalid_request', { message })
  if (url.startsWith(malformedPrefix))
    return new ApiError('invalid_request', { message: 'The request URL is malformed.' })
  return is404 ? new ApiError('not_found', { message: 'There is no such path.' }) : undefined
}

/** Node keeps the first of repeated headers, while a proxy may have read the last (RFC 9112 3.2). */
function headerProblem({ rawHeaders, httpVersion }: IncomingMessage): string | undefined {
  const countOf = (name: string): number =>
    rawHeaders.filter((text, at) => at % 2 === 0 && text.length === name.length && text.toLowerCase() === name).length
  const hosts = countOf('host')
  if (hosts > 1) return 'Send one Host header, not several.'
  if (hosts === 0 && httpVersion !== '1.0') return 'Send a Host header.'
  return countOf('authorization') > 1 ? 'Send one Authorization header, not several.' : undefined
}
