/** Opens the store that the configuration names: Redis or the embedded key file. */
import type { Store, StoreDeps } from './store.js'

export interface StoreConfig {
  /** One `redis://` or `rediss://` URL, several comma-separated = a cluster, undefined = the embedded store. */
  readonly redisUrl: string | undefined
  readonly dataDir: string
}

/**
 * Without Redis, rejects with `StoreUnavailable` when the data directory cannot be used. With Redis it never fails and waits at most one
 * second: the gateway starts degraded and recovers.
 */
export async function openStore(config: StoreConfig, deps: StoreDeps): Promise<Store> {
  if (config.redisUrl !== undefined) return (await import('./redis.js')).openRedis(config.redisUrl, deps)
  return (await import('./embedded.js')).openEmbedded(config.dataDir, deps)
}
