/** Reports outages: a log line when one begins, for each further reason, after each pause, and with the number of failures when it is over. */
import type { Log } from './log.js'

/** Failures closer together than this belong to one outage, whatever succeeds in between. */
const quietMs = 10_000
/** Reasons of one outage that are logged until it pauses: a platform that is back from an upgrade may fail in a new way. */
const maxReasons = 5
/** Errors of a reason: the one that was thrown, and causes. */
const maxCauses = 5

interface Outage {
  since: number
  lastAt: number
  failures: number
  reasons: Set<string>
  /** Since the last failure. */
  hasSucceeded?: boolean
}

export type Outages = ReturnType<typeof outagesIn>

/** @param now monotonic milliseconds. */
export function outagesIn(log: Pick<Log, 'warn'>, now: () => number) {
  const open = new Map<string, Outage>()
  const end = (of: string): void => {
    const outage = open.get(of)
    if (outage === undefined) return
    outage.hasSucceeded = true
    if (now() - outage.lastAt < quietMs) return
    open.delete(of)
    const { since, lastAt, failures } = outage
    log.warn({ of, failures, seconds: Math.round((lastAt - since) / 1_000) }, 'outage over')
  }
  return {
    /** @param of what failed: one of a few fixed names. @param reqId of the request that failed, if it was one. */
    failed(of: string, error: unknown, reqId?: string): void {
      const at = now()
      // A pause alone ends no outage: calls of a platform that hangs fail together, more than `quietMs` apart.
      if (open.get(of)?.hasSucceeded) end(of)
      const outage = open.get(of) ?? { since: at, lastAt: at, failures: 0, reasons: new Set() }
      const isAgain = at - outage.lastAt >= quietMs
      if (isAgain) outage.reasons.clear()
      outage.lastAt = at
      outage.hasSucceeded = false
      outage.failures += 1
      open.set(of, outage)
      const reason = reasonOf(error)
      if (outage.reasons.has(reason) || outage.reasons.size === maxReasons) return
      outage.reasons.add(reason)
      const further = isAgain ? 'outage goes on' : 'outage has another reason'
      log.warn({ of, reason, reqId }, outage.failures === 1 ? 'outage begins' : further)
    },
    succeeded: end,
  }
}

/** Messages of an error and its causes, without stacks, and each code that none of them names. */
function reasonOf(error: unknown): string {
  const parts: string[] = []
  for (let cause = error; cause instanceof Error && parts.length < maxCauses; cause = cause.cause) {
    const { message } = cause
    const code = 'code' in cause && typeof cause.code === 'string' ? cause.code : ''
    parts.push([...parts, message].some((part) => part.includes(code)) ? message : `${message} (${code})`)
  }
  return parts.join('; ') || 'unknown'
}
