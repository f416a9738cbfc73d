/** Opens the store that the configuration names: Redis or the embedded key file. */
import type { Store, StoreDeps } from './store.js'

export interface StoreConfig {
  /** One `redis://` or `rediss://` URL, several comma-separated = a cluster, undefined = the embedded store. */
  readonly redisUrl: string | undefined
  readonly dataDir: string
}

/**
 * Opens the store the configuration means. With Redis this never waits for the server: the gateway starts degraded and recovers.
 * Rejects with `StoreUnavailable` when the data directory cannot be used.
 */
export async function openStore(config: StoreConfig, deps: StoreDeps): Promise<Store> {
  if (config.redisUrl !== undefined) return (await import('./redis.js')).openRedis(config.redisUrl, deps)
  return (await import('./embedded.js')).openEmbedded(config.dataDir, deps)
}
