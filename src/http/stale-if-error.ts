/** The age of a response that the caller accepts in place of an error: `Cache-Control: stale-if-error=<seconds>` in the request (RFC 5861 4). */
import type { FastifyRequest } from 'fastify'

const maxSeconds = 3_600
/** An argument may be quoted (RFC 9111 5.2). */
const directive = /(?:^|[\s,])stale-if-error=("?)(\d+)\1(?=[\s,]|$)/i

/** 0 without the directive, and on routes that never serve stale responses. */
export function maxStaleMs(request: FastifyRequest): number {
  const header = request.headers['cache-control']
  if (header === undefined || !request.routeOptions.config.servesStale) return 0
  return 1_000 * Math.min(maxSeconds, Number(directive.exec(header)?.[2] ?? 0))
}
