/** The store that several instances share: one connection to a Redis server or cluster, for keys and counters; the only file that imports ioredis. */
import { once } from 'node:events'
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { Batch, DamagedEntry, type Verb } from './batch.js'
import { SharedCounters } from './counters.js'
import { DamageReports } from './damage.js'
import { type Commands, RedisKeys } from './redis-keys.js'
import { PERFORM, PRUNE, RESERVE, WRITE } from './scripts.js'
import { type Store, type StoreDeps, StoreUnavailable } from './store.js'

/** A caller waits this long for Redis, then is told that it is away. */
const ANSWER_MS = 250
/** A connection that owes an answer for this long is given up and made anew. */
const SILENCE_MS = 1000
/** How long opening waits for the first connection before it goes on without. */
const OPENING_MS = 1000

/** What Redis says when it will not write, also from within a script. */
const REFUSAL = /\b(READONLY|OOM|MISCONF|NOREPLICAS)\b/
/** What Redis says when a key holds a value of another type. It works, and so do all other keys. */
const WRONG_TYPE = /\bWRONGTYPE\b/

const retry = (times: number): number => Math.min(50 * times, 250)

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gpsPerform(count: number, ...keysAndArgs: (string | number)[]): Promise<unknown[]>
    gpsWrite(key: string, record: string, used: number, limit: string, expiresAt: number): Promise<number>
    gpsReserve(index: string, id: string, entry: string, max: number, now: number): Promise<number>
    gpsPrune(index: string, id: string, entry: string): Promise<number>
  }
}

/** The verbs of a batch that fail where nothing can be written; the others write only what they find. */
const WRITERS: ReadonlySet<Verb> = new Set<Verb>(['increment', 'read'])

const SCRIPTS = {
  gpsPerform: { lua: PERFORM },
  gpsWrite: { lua: WRITE, numberOfKeys: 1 },
  gpsReserve: { lua: RESERVE, numberOfKeys: 1 },
  gpsPrune: { lua: PRUNE, numberOfKeys: 1 },
}

/**
 * Connects to `urls`: one `redis://` or `rediss://` URL, or several comma-separated for a cluster. Resolves connected or, after a
 * second, degraded; from then on it connects by itself as soon as Redis is there.
 */
export async function openRedis(urls: string, deps: StoreDeps): Promise<Store> {
  const client = connect(urls.split(',').map((url) => url.trim()))
  const connection = new Connection(client, deps.onError)
  const batch = new Batch(
    (keys, runs) => {
      const args = runs.flatMap(({ verb, value, times }) => [verb, value, times])
      const perform = () => client.gpsPerform(keys.length, ...keys, ...args)
      return runs.some(({ verb }) => WRITERS.has(verb)) ? connection.write(perform) : connection.ask(perform)
    },
    client.isCluster ? (key) => key : () => '',
  )
  await once(client, 'ready', { signal: AbortSignal.timeout(OPENING_MS) }).catch(() => {})
  return {
    kind: 'redis',
    keys: new RedisKeys(batch, commands(client, connection), new DamageReports(deps.onDamaged)),
    counters: new SharedCounters(batch),
    up: () => connection.up,
    close: () => connection.close(),
  }
}

/** What a Redis server says of itself: its INFO, and its `save` setting where it tells that. */
export interface RedisAccount {
  info: string
  save: string | undefined
}

/** Asks every master behind `urls`, connected to as the gateway would. @throws when one cannot be reached in time. */
export async function inquire(urls: string): Promise<RedisAccount[]> {
  const client = connect(urls.split(',').map((url) => url.trim()))
  try {
    const failed = new Promise<never>((_, reject) => client.on('error', (error) => reject(withoutCommand(error))))
    await Promise.race([once(client, 'ready', { signal: AbortSignal.timeout(OPENING_MS) }), failed])
    const nodes = client instanceof Cluster ? client.nodes('master') : [client]
    return await Promise.all(
      nodes.map(async (node) => {
        const save = await node.config('GET', 'save').catch(() => undefined)
        return { info: await node.info(), save: Array.isArray(save) ? String(save[1] ?? '') : undefined }
      }),
    )
  } finally {
    client.disconnect()
  }
}

function connect(urls: string[]): Redis | Cluster {
  const common = {
    connectTimeout: SILENCE_MS,
    socketTimeout: SILENCE_MS,
    disconnectTimeout: ANSWER_MS,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // A server that was demoted behind an unchanged name says so; the name leads to its successor by then.
    reconnectOnError: (error: Error) => error.message.includes('READONLY'),
  } satisfies RedisOptions
  const [first = ''] = urls
  if (urls.length === 1) {
    return new Redis(first, { ...common, enableOfflineQueue: false, retryStrategy: retry, scripts: SCRIPTS })
  }
  const { protocol, username, password } = new URL(first)
  const secure = protocol === 'rediss:'
  return new Cluster(urls, {
    enableOfflineQueue: false,
    clusterRetryStrategy: retry,
    slotsRefreshTimeout: SILENCE_MS,
    retryDelayOnFailover: 50,
    retryDelayOnClusterDown: 50,
    maxRedirections: 5,
    scripts: SCRIPTS,
    redisOptions: {
      ...common,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(secure && { tls: {} }),
    },
    // Certificates carry names, so nodes are not turned into addresses.
    ...(secure && { dnsLookup: (name, found) => found(null, name) }),
  } satisfies ClusterOptions)
}

function commands(client: Redis | Cluster, connection: Connection): Commands {
  return {
    write: async (...args) => void (await connection.write(() => client.gpsWrite(...args))),
    reserve: async (...args) => (await connection.ask(() => client.gpsReserve(...args), args[0])) === 1,
    prune: async (...args) => void (await connection.ask(() => client.gpsPrune(...args), args[0])),
    entries: (index) => connection.ask(() => client.hgetall(index), index),
    unlist: async (index, id) => void (await connection.ask(() => client.hdel(index, id), index)),
    get: (key) => connection.ask(() => client.get(key), key),
    setUntil: async (key, value, expiresAt) =>
      void (await connection.write(() => client.set(key, value, 'PXAT', expiresAt))),
    remove: async (key) => (await connection.ask(() => client.del(key))) === 1,
  }
}

/** What is known of the connection, and the time limit on every answer. */
class Connection {
  #answers = false
  /** Answers readers, but takes nothing: a replica, or a server that is full or cannot save. Only a write shows that this is over. */
  #refuses = false
  readonly #client: Redis | Cluster
  readonly #onError: (error: Error) => void
  #reported = false
  /** While it is missing nobody else waits. A cluster has other nodes to ask. */
  #overdue: Promise<unknown> | undefined

  constructor(client: Redis | Cluster, onError: (error: Error) => void) {
    this.#client = client
    this.#onError = onError
    client.on('ready', () => {
      this.#answers = true
      this.#reported = false
    })
    client.on('close', () => {
      this.#answers = false
    })
    client.on('error', (error: Error) => this.#report(error))
    client.on('node error', (error: Error) => this.#report(error))
  }

  get up(): boolean {
    return this.#answers && !this.#refuses
  }

  /** The answer to a command that never succeeds without writing; as `ask`. */
  async write<T>(command: () => Promise<T>): Promise<T> {
    const result = await this.ask(command)
    this.#refuses = false
    return result
  }

  /**
   * The answer to a command; rejects with `StoreUnavailable` when there is none within `ANSWER_MS`, or an error, and with `DamagedEntry`
   * when only `key` is at fault.
   */
  async ask<T>(command: () => Promise<T>, key = ''): Promise<T> {
    try {
      if (this.#overdue) throw new Error('An earlier answer is overdue')
      const answer = command()
      const result = await withinLimit(answer, () => this.#fallBehind(answer))
      this.#answers = true
      return result
    } catch (error) {
      if (WRONG_TYPE.test(String(error))) throw new DamagedEntry(key, withoutCommand(error))
      this.#answers = false
      if (REFUSAL.test(String(error))) this.#refuses = true
      throw new StoreUnavailable('Redis cannot answer', withoutCommand(error))
    }
  }

  /** Of one server nothing else can be expected before an overdue answer has come or the connection has ended. */
  #fallBehind(answer: Promise<unknown>): void {
    if (this.#client.isCluster) return
    this.#overdue = answer
    const done = (): void => {
      if (this.#overdue === answer) this.#overdue = undefined
    }
    answer.then(done, done)
  }

  async close(): Promise<void> {
    this.#client.disconnect()
  }

  /** Once an outage; the attempts to reconnect all fail alike. */
  #report(error: Error): void {
    if (!this.#reported) this.#onError(withoutCommand(error))
    this.#reported = true
  }
}

function withinLimit<T>(answer: Promise<T>, onLate: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    let isSettled = false
    const late = () => {
      if (isSettled) return
      onLate()
      reject(new Error(`No answer within ${ANSWER_MS} ms`))
    }
    // After a pause of this process the answer may lie in the socket unread; one turn of the loop reads it.
    const timer = setTimeout(() => setImmediate(late), ANSWER_MS)
    const settle = () => {
      isSettled = true
      clearTimeout(timer)
    }
    answer.finally(settle).then(resolve, reject)
  })
}

/** An error of ioredis carries the command that failed, with a password or a record among its arguments. */
function withoutCommand(error: unknown): Error {
  const { message, code } = error as NodeJS.ErrnoException
  return new Error(message || code || 'unknown')
}
