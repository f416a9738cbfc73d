/** The store that several instances share: keys and counters through one client of a Redis server or cluster. */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import { batched } from './batch.js'
import { Connection, notReady, silenceMs } from './redis-connection.js'
import { RedisKeys, recordKey } from './redis-keys.js'
import { refusedCommands } from './redis-rights.js'
import { type Command, performScript } from './scripts.js'
import type { Count, Store, StoreDeps } from './store.js'

/** Opening waits this long for the first connection and then continues without it. */
const openingMs = 1000
/** How often the nodes of a cluster are read. */
const slotsMs = 1_000
/** Commands whose success proves that Redis accepts writes; the others may succeed without writing anything. */
const writers: ReadonlySet<Command> = new Set<Command>(['increment', 'read', 'write', 'SET'])

const retry = (times: number): number => Math.min(50 * times, 250)

/** Whether a reply is that of a key that was used, and counted. */
const isUse = (reply: unknown): boolean => Array.isArray(reply) && typeof reply[3] === 'number'

declare module 'ioredis' {
  interface RedisCommander<Context> {
    gpsPerform(count: number, ...keysAndArgs: (string | number)[]): Promise<unknown[]>
  }
}

/**
 * Connects to `urls`: one `redis://` or `rediss://` URL, or several comma-separated for a cluster. Resolves connected or, after a
 * second, degraded; from then on it connects by itself as soon as Redis is there.
 */
export async function openRedis(urls: string, deps: StoreDeps): Promise<Store> {
  const client = connect(urls)
  const connection = new Connection(client)
  const request = batched((command, keys, values) => {
    const hasWritten = (replies: unknown): boolean =>
      writers.has(command) || (Array.isArray(replies) && replies.some(isUse))
    const perform = () => client.gpsPerform(keys.length, ...keys, command, ...values)
    return connection.send(command, perform, hasWritten)
  }, client.isCluster)
  const toCount = ([current, ttlMs]: [number, number]): Count => ({ current, ttlMs })
  const counterKey = (name: string): string => `gps:count:${name}`
  // No error ends this wait: the client tries again.
  await Promise.race([
    new Promise((resolve) => client.once('ready', resolve)),
    pause(openingMs, undefined, { ref: false }),
  ])
  return {
    keys: new RedisKeys(request, deps.onDamaged),
    counters: {
      increment: async (name, windowMs) => toCount(await request('increment', counterKey(name), windowMs)),
      read: async (name) => toCount(await request('read', counterKey(name))),
    },
    digests: () => digests(client).catch((error) => Promise.reject(connection.unavailable(error))),
    up: () => connection.up,
    close: async () => client.disconnect(),
  }
}

function mastersOf(client: Redis | Cluster): Redis[] {
  if (!(client instanceof Cluster)) return [client]
  // Until it is ready, the client has no nodes, or only those of its URLs.
  if (client.status !== 'ready') throw new Error(notReady)
  return client.nodes('master')
}

async function digests(client: Redis | Cluster): Promise<string[]> {
  const found = new Set<string>()
  for (const node of mastersOf(client)) {
    for await (const keys of node.scanStream({ match: recordKey('*'), count: 1_000 })) {
      for (const key of keys as string[]) found.add(key.slice(recordKey('').length))
    }
  }
  return [...found]
}

/** The fields of a server's INFO, none where an ACL denies it, and its `save` setting unless the server hides it. */
export interface ServerInfo {
  info: Readonly<Record<string, string | undefined>>
  save: string | undefined
}

/**
 * Queries every master behind `urls`, connected to as the gateway would. @returns `refused` as of `refusedCommands`; `ms` is how long the
 * slowest server took to reply to one command. @throws when one cannot be reached in time.
 */
export async function inspectServers(urls: string) {
  // Each command that a replica refuses would cost a connection, and those after it would find none.
  const client = connect(urls, { reconnectOnError: null })
  try {
    const connection = new Connection(client)
    const failed = new Promise<never>((_, reject) => client.on('error', (error) => reject(connection.causeOf(error))))
    await Promise.race([once(client, 'ready', { signal: AbortSignal.timeout(openingMs) }), failed])
    const inspect = async (node: Redis): Promise<ServerInfo> => {
      const save = await node.config('GET', 'save').catch(() => undefined)
      const info = await node.info().catch((error: Error) => {
        if (error.message.startsWith('NOPERM')) return ''
        throw new Error(`${node.options.host}:${node.options.port}: ${error.message}`)
      })
      const fields = info.split(/\r?\n/).map((line) => line.split(':'))
      return { info: Object.fromEntries(fields), save: Array.isArray(save) ? String(save[1] ?? '') : undefined }
    }
    const servers = await Promise.all(mastersOf(client).map(inspect))
    const refused = await refusedCommands((...call) => client.call(...call), client.isCluster)
    const started = performance.now()
    await Promise.all(mastersOf(client).map((server) => server.ping().catch(() => {})))
    return { servers, refused, ms: Math.round(performance.now() - started) }
  } finally {
    client.disconnect()
  }
}

/** A private method of the client. */
const { flushQueue } = Cluster.prototype as unknown as { flushQueue: (this: Cluster, error: Error) => void }

/** Ends a connection with its first error: a broken TLS record closes none, and the client would hear no second one, which ends the process. */
function guarded(redis: Redis): Redis {
  return redis.on('connect', () => redis.stream.on('error', () => redis.stream.destroy()))
}

const scripts = { gpsPerform: { lua: performScript } }

const connectionOptions = {
  connectTimeout: silenceMs,
  socketTimeout: silenceMs,
  disconnectTimeout: 250,
  // Early in loading its data, Redis expects it to take several times as long as it does.
  maxLoadingRetryTime: 250,
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  // A demoted server behind an unchanged name rejects writes; by then the name leads to its successor.
  reconnectOnError: (error: Error) => error.message.includes('READONLY'),
} satisfies RedisOptions

type Overrides = Pick<RedisOptions, 'reconnectOnError'>

function connect(list: string, overrides: Overrides = {}): Redis | Cluster {
  const urls = list.split(',').map((url) => url.trim())
  const [first = ''] = urls
  return urls.length === 1 ? connectServer(first, overrides) : connectCluster(urls, new URL(first), overrides)
}

function connectServer(url: string, overrides: Overrides): Redis {
  const options = { ...connectionOptions, ...overrides, enableOfflineQueue: false, retryStrategy: retry, scripts }
  const redis = guarded(new Redis(url, options))
  // Where the server refuses the number of the database, the client would go on with database 0.
  return redis.on('error', ({ command }: Error & { command?: { name: string } }) => {
    if (command?.name === 'select') redis.disconnect(true)
  })
}

/** All nodes have the protocol and credentials of the first URL. */
function connectCluster(urls: string[], { protocol, username, password }: URL, overrides: Overrides): Cluster {
  const isSecure = protocol === 'rediss:'
  const cluster = new Cluster(urls, {
    // What is for a node that is being connected waits for it. Without connections, `Connection` sends nothing.
    enableOfflineQueue: true,
    clusterRetryStrategy: (times) => {
      // Each attempt leaves a command there where the cluster names no node.
      flushQueue.call(cluster, new Error(notReady))
      return retry(times)
    },
    slotsRefreshTimeout: silenceMs,
    // Nothing is sent again that Redis may have executed: a second `DEL` finds no key, and a second `write` revives a revoked one.
    retryDelayOnFailover: 0,
    // Before it tries again, the client reads the slots, which takes `silenceMs` from a node that hangs: a cluster that is down would pass
    // for a late reply.
    retryDelayOnClusterDown: 0,
    maxRedirections: 5,
    scripts,
    redisOptions: {
      ...connectionOptions,
      ...overrides,
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
      ...(isSecure && { tls: {} }),
    },
    // Each node resolves its own name: one without an address must not keep the others away, and certificates carry names. Resolving
    // all first, the client would not connect again when an old connection ends meanwhile.
    dnsLookup: (name, found) => found(null, name),
  } satisfies ClusterOptions)
  cluster.on('+node', (node: Redis) => guardNode(node, cluster))
  // An idle client would send its next command to a master that has been replaced, perhaps without noticing it. Its own option for this
  // goes on after `disconnect`, and keeps the process alive.
  const refresh = setInterval(() => cluster.status === 'ready' && cluster.refreshSlotsCache(), slotsMs).unref()
  return cluster.once('end', () => clearInterval(refresh))
}

function guardNode(node: Redis, cluster: Cluster): void {
  guarded(node)
  // The client requests the other nodes on a copy of a connection, and would drop its errors.
  node.duplicate = (...given) =>
    guarded(Redis.prototype.duplicate.apply(node, given)).on('error', (error) => cluster.emit('node error', error))
  // It drops this promise, and its rejection would end the process. Without it the command fails as well.
  node.asking = async () => Redis.prototype.asking.apply(node).catch(() => 'OK' as const)
}
