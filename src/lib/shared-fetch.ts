/** Requests to a cache that share the call in flight for a key. */

/**
 * The result of a fetch.
 * @param fetch as of an lru-cache, which says in `status` that another request has sent the call.
 * @param onShared called then, before the request waits; what it throws is thrown.
 */
export async function sharedFetch<V, S extends { fetch?: string }>(
  fetch: (status: S) => Promise<V>,
  onShared: () => void,
): Promise<V> {
  const status = {} as S
  const fetched = fetch(status)
  if (status.fetch === 'inflight') {
    fetched.catch(() => {})
    onShared()
  }
  return fetched
}
