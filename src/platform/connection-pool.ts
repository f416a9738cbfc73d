/** Connections to a platform. One serves another account only after a rest: a response that is soon sent again reaches no other account. */

/** A client of undici, which has one connection at a time. */
interface Client {
  readonly stats: { readonly connected: boolean; readonly size: number }
  destroy(): Promise<void>
}

interface Connection<C> {
  readonly client: C
  /** Of its last request. */
  hash: string
  /** Monotonic milliseconds. */
  idleSince: number
  /** Whether it was used again at once: its last response may be a second copy of an earlier one, and the real one may follow much later. */
  mayLag: boolean
}

/**
 * Some broken platforms and proxies send a response twice. undici closes an idle connection that receives bytes, but would take them for the
 * response to a request that has been sent. So a connection serves another account only after this time.
 */
const restMs = 100

export class ConnectionPool<C extends Client> {
  readonly #max: number
  readonly #open: () => C
  readonly #clients = new Set<C>()
  /** The longest idle first. */
  readonly #idle: Connection<C>[] = []
  readonly #waiting: (() => void)[] = []
  #inUse = 0
  #isClosed = false

  /** @param max connections in use; as many again may be idle, so that 64 serve 640 requests of different accounts a second. */
  constructor(max: number, open: () => C) {
    this.#max = max
    this.#open = open
  }

  /** Sends a request with a connection of its own until the response is read. @param isNew whether the connection must be a new one. */
  async use<T>(hash: string, isNew: boolean, send: (client: C) => Promise<T>): Promise<T> {
    if (this.#inUse < this.#max) this.#inUse += 1
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const connection = (isNew ? undefined : this.#takeIdle(hash)) ?? this.#opened(hash)
    const { client } = connection
    try {
      return await send(client)
    } finally {
      const { connected, size } = client.stats
      connection.idleSince = performance.now()
      // An aborted request stays in its client until the socket has closed, or is given up.
      if (connected && size === 0) this.#idle.push(connection)
      else this.#close(client)
      const next = this.#waiting.shift()
      if (next) next()
      else this.#inUse -= 1
    }
  }

  /** Closes every connection; requests in flight fail. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#clients].map((client) => client.destroy()))
  }

  #takeIdle(hash: string): Connection<C> | undefined {
    const latest = performance.now() - restMs
    const at = this.#idle.findLastIndex(
      (one) => one.hash === hash || !one.client.stats.connected || (one.idleSince <= latest && !one.mayLag),
    )
    const found = this.#idle[at]
    if (!found) return undefined
    this.#idle.splice(at, 1)
    found.mayLag = found.client.stats.connected && (found.mayLag || found.idleSince > latest)
    found.hash = hash
    return found
  }

  #opened(hash: string): Connection<C> {
    if (this.#clients.size >= 2 * this.#max) {
      // One that serves no other account, or else the latest: if it were the longest idle one, none would ever be idle for long enough.
      const at = this.#idle.findIndex(({ mayLag }) => mayLag)
      for (const { client } of this.#idle.splice(at, 1)) this.#close(client)
    }
    const client = this.#open()
    this.#clients.add(client)
    // It rejects a request that has waited until now.
    if (this.#isClosed) void client.destroy()
    return { client, hash, idleSince: 0, mayLag: false }
  }

  #close(client: C): void {
    this.#clients.delete(client)
    void client.destroy()
  }
}
