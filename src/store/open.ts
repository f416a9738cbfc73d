/** Opens the store that the configuration names: Redis or the embedded key file. */
import { BoundedMap } from '../lib/bounded-map.js'
import { type OnDamaged, type Store, type StoreDeps, StoreUnavailable } from './store.js'

export interface StoreConfig {
  /** One `redis://` or `rediss://` URL, several comma-separated = a cluster, undefined = the embedded store. */
  readonly redisUrl: string | undefined
  readonly dataDir: string
}

/**
 * Without Redis, rejects with `StoreUnavailable` when the data directory cannot be used. With Redis it never fails and waits at most one
 * second: the gateway starts degraded and recovers.
 */
export async function openStore(config: StoreConfig, given: StoreDeps): Promise<Store> {
  const deps = { ...given, onDamaged: once(given.onDamaged) }
  if (config.redisUrl !== undefined) return (await import('./redis.js')).openRedis(config.redisUrl, deps)
  const { openEmbedded } = await import('./embedded.js')
  return openEmbedded(config.dataDir, deps).catch((error: Error) => {
    if (error instanceof StoreUnavailable) throw error
    const message = `Cannot use ${config.dataDir} (DATA_DIR): ${error.message}${remedyFor(error)}`
    throw new StoreUnavailable(message, { cause: error })
  })
}

/** What the operator can do, where that is known. lmdb identifies the processes that share a file by their ids. */
function remedyFor({ code, message }: NodeJS.ErrnoException): string {
  if (message.includes('No transaction to renew'))
    return '; another container uses it, with the same process id: stop it first'
  return code === 'EACCES' || code === 'EPERM' ? `; ${ownership()}` : ''
}

/** The user who needs a folder. */
export const ownership = (): string => `this process is user ${process.getuid?.() ?? 'unknown'}: make it the owner`

/** Damaged entries remembered; beyond this, the oldest may be reported again. */
const maxReported = 10_000

/** Reports each entry once. The returned function takes the whole digest, owner or id, which may be damaged, too. */
function once(onDamaged: OnDamaged): OnDamaged {
  const reported = new BoundedMap<string, true>(maxReported)
  return (what, name) => {
    const entry = `${what} ${name}`
    if (reported.has(entry)) return
    reported.set(entry, true)
    onDamaged(what, name.slice(0, 8).replace(/[^\w-]/g, '?'))
  }
}
