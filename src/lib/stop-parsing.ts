/** Stops the HTTP parser of a server's connection. */
import type { Socket } from 'node:net'

/**
 * Ignores all further requests of a connection. Node parses a packet to its end and would keep its requests, up to 1,800, even after
 * `destroy`; a result of 2 stops it, as at an upgrade.
 */
export function stopParsing({ parser }: Socket & { parser?: object | null }): void {
  if (parser) Object.assign(parser, { onIncoming: () => 2 })
}
