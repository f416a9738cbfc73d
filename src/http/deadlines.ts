/** Ends what takes too long: responses in progress, responses that a client does not read, and connections while the app closes. */
import { setImmediate as endOfTurn } from 'node:timers/promises'
import type { ByteBudget } from '../lib/byte-budget.js'
import { type Connection, type Connections, isIdle, isUnread, pendingReply, refuse } from './connections.js'
import { maxBacklog } from './server-limits.js'
import type { App } from './types.js'

/** A request in progress for longer gets a 503. Less than the idle timeout of a connection, so that no client is disconnected without a response. */
const deadlineMs = 50_000
/** The time that a client may take to read a response while memory is short. */
const slowReaderMs = 5_000
/** While closing: the time for the rest of incomplete requests to arrive, and for clients to read each response. */
const [maxIncompleteMs, maxUnreadMs] = [3_000, 10_000]
/** From the close of the app, before the process is ended by force: until every request gets a 503, and until clients that still read are cut off. */
const [closingDeadlineMs, maxClosingMs] = [18_000, 19_000]

const [checkMs, closingCheckMs] = [1_000, 200]

const unreadSince = ({ unread }: Connection): number => unread?.since ?? Number.POSITIVE_INFINITY

/**
 * To be installed before all other hooks, any of which may respond. Ours, because Fastify's `handlerTimeout` gives every request a timer of
 * its own. @param budget of unread responses. @param ticks monotonic milliseconds.
 */
export function installDeadlines(app: App, connections: Connections, budget: ByteBudget, ticks: () => number): void {
  app.addHook('onRequest', (_request, reply, next) => {
    const connection = connections.connectionOf(reply.raw)
    if (connection) connection.current = { reply, since: ticks() }
    next()
  })
  let closingSince = Number.POSITIVE_INFINITY
  const check = (): void => {
    const now = ticks()
    const closingMs = now - closingSince
    if (budget.isShort) cutSlowReaders(connections, budget, now - slowReaderMs)
    // The app would otherwise not close before idle connections time out.
    if (closingMs >= 0) connections.closeIdle()
    const latest = closingMs > closingDeadlineMs ? now : now - deadlineMs
    for (const connection of connections.open) {
      const waiting = pendingReply(connection)
      // With this header, its response is being compressed.
      if (waiting && waiting.since <= latest && !waiting.reply.hasHeader('content-encoding'))
        refuse(waiting.reply, 'The response took too long.')
      if (isOverdue(connection, now, closingMs)) connection.socket.destroy()
    }
  }
  let timer = setInterval(check, checkMs).unref()
  app.addHook('preClose', async () => {
    closingSince = ticks()
    clearInterval(timer)
    timer = setInterval(check, closingCheckMs)
    await acceptWaiting(app)
  })
  app.addHook('onClose', async () => clearInterval(timer))
}

/** While memory is short, cuts the clients that have been reading since `latest` or before, the slowest first. */
function cutSlowReaders(connections: Connections, budget: ByteBudget, latest: number): void {
  const slow = [...connections.open].filter((connection) => unreadSince(connection) <= latest)
  for (const connection of slow.sort((a, b) => unreadSince(a) - unreadSince(b)))
    if (budget.isShort) connections.cut(connection, 'slow_reader')
}

/** Whether a connection must not keep the app from closing. */
function isOverdue(connection: Connection, now: number, closingMs: number): boolean {
  // While closing, Node no longer limits the time of incomplete requests, and a silent connection counts as one.
  if (closingMs > maxIncompleteMs && isIdle(connection)) return true
  // Small responses have no time: theirs begins with the close.
  const unreadMs = Math.min(closingMs, now - (connection.unread?.since ?? 0))
  return isUnread(connection.socket) && (unreadMs > maxUnreadMs || closingMs > maxClosingMs)
}

/** Node accepts one connection in a turn of the event loop, and the system resets those that wait when the listener closes. */
async function acceptWaiting({ server }: App): Promise<void> {
  let [accepted, before] = [0, -1]
  server.on('connection', () => {
    accepted += 1
  })
  await endOfTurn()
  while (before < accepted && accepted < maxBacklog) {
    before = accepted
    await endOfTurn()
  }
}
