/** Limits the reports of damaged entries to one for each entry. */
import type { OnDamaged } from './store.js'

/** Entries remembered at once; beyond this, some may be reported again. */
const maxReported = 10_000

/** The returned function takes the whole digest, owner or id; it may be damaged, too. */
export function reportOnce(onDamaged: OnDamaged): OnDamaged {
  const reported = new Set<string>()
  return (what, name) => {
    const entry = `${what} ${name}`
    if (reported.has(entry)) return
    if (reported.size >= maxReported) reported.clear()
    reported.add(entry)
    onDamaged(what, name.slice(0, 8).replace(/[^\w-]/g, '?'))
  }
}
