/** Real Redis servers for tests, each a process on a port of its own that ends with its test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { type EventEmitter, once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import { certificate } from './faults.js'
import { temporaryFolder } from './folder.js'

/** For tap's `skip`: the reason where redis-server is missing. In CI this module throws instead. */
export const withoutRedis: string | false = (() => {
  try {
    execFileSync('redis-server', ['--version'])
    return false
  } catch (error) {
    if (process.env.CI) throw new Error('redis-server is missing, and CI tests nothing without it', { cause: error })
    return 'redis-server is not installed: NOTHING about Redis is tested here'
  }
})()

export class RedisServer {
  readonly port: number
  /** Where the server keeps its files. */
  readonly dir: string
  readonly #options: string[]
  #process: ChildProcess | undefined

  constructor(port: number, dir: string, options: string[]) {
    this.port = port
    this.dir = dir
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '']
    // A master would wait five seconds for more replicas before it serves the first.
    this.#options = [...own, '--repl-diskless-sync-delay', '0', ...options]
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const child = spawn('redis-server', this.#options, { stdio: ['ignore', 'pipe', 'ignore'] })
    this.#process = child
    const log: string[] = []
    for await (const line of createInterface(child.stdout)) {
      log.push(line)
      if (!line.includes('Ready to accept connections')) continue
      child.stdout.resume()
      return
    }
    throw new Error(`redis-server did not start:\n${log.join('\n')}`)
  }

  /** From now on it accepts connections, but does not reply. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Ends it at once, as a crash would; after `start` it is empty unless it keeps an append-only file. */
  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child?.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** How many scripts it has run. */
  async scripts(): Promise<number> {
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(await this.command('info', 'commandstats'))?.[1])
  }

  command(...args: string[]): Promise<string> {
    return this.commands(args)
  }

  /** The reply to commands on a connection of their own, without its type; an error is its message. A process for each would take longer. */
  async commands(...all: string[][]): Promise<string> {
    const bulk = (one: string) => `$${Buffer.byteLength(one)}\r\n${one}\r\n`
    const socket = connect(this.port, '127.0.0.1')
    socket.end(all.map((args) => `*${args.length}\r\n${args.map(bulk).join('')}`).join(''))
    return (await text(socket)).replace(/^(\$-?\d+\r\n|[+:-])/, '').trim()
  }
}

/** A running server. `options` are those of redis-server. */
export async function redisServer(t: Test, ...options: string[]): Promise<RedisServer> {
  const server = new RedisServer(await freePort(), temporaryFolder(t), options)
  t.teardown(() => server.stop())
  await server.start()
  return server
}

/** A server that also listens with TLS, by a certificate that is trusted only where `cert`, its file, is. */
export async function tlsRedis(t: Test, ...options: string[]) {
  const { key, cert } = certificate(temporaryFolder(t))
  const port = await freePort()
  const tls = `--tls-port ${port} --tls-cert-file ${cert} --tls-key-file ${key} --tls-auth-clients no`
  return { server: await redisServer(t, ...tls.split(' '), ...options), tlsUrl: `rediss://localhost:${port}`, cert }
}

/** What each of three masters gets of the 16,384 slots. */
const SLOTS = ['0 5460', '5461 10922', '10923 16383']

/** Three masters that share the slots; `url` is the value of `REDIS_URL`. */
export async function redisCluster(t: Test, ...options: string[]): Promise<{ url: string; nodes: RedisServer[] }> {
  const nodes = await Promise.all(SLOTS.map(() => clusterNode(t, ...options)))
  for (const [i, range] of SLOTS.entries()) {
    await nodes[i]?.command('cluster', 'addslotsrange', ...range.split(' '))
    await nodes[i]?.command('cluster', 'set-config-epoch', String(i + 1))
  }
  await introduce(nodes)
  await acquainted(nodes)
  return { url: nodes.map(({ url }) => url).join(','), nodes }
}

/** Resolves once each of all nodes of a cluster knows the others, and their slots. */
const acquainted = (nodes: RedisServer[]): Promise<void> =>
  until(async () => {
    const states = await Promise.all(nodes.map((node) => node.command('cluster', 'info')))
    const whole = `cluster_state:ok.*cluster_slots_ok:16384.*cluster_known_nodes:${nodes.length}\\b`
    return states.every((state) => new RegExp(whole, 's').test(state))
  })

async function clusterNode(t: Test, ...options: string[]): Promise<RedisServer> {
  const port = String(await freePort())
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', port]
  return redisServer(t, ...cluster, ...options)
}

async function introduce([first, ...others]: RedisServer[]): Promise<void> {
  for (const other of others) {
    const busPort = /@(\d+)/.exec(await other.command('cluster', 'nodes'))?.[1] ?? ''
    await first?.command('cluster', 'meet', '127.0.0.1', String(other.port), busPort)
  }
}

/**
 * A replica of `master` that takes its place on `cluster failover takeover`: an election would take as long as it likes. Resolves when
 * it holds the data of the master, all `nodes` know it, and it knows them: one that loses its master before never serves the slots.
 */
export async function clusterReplica(t: Test, master: RedisServer, nodes: RedisServer[]): Promise<RedisServer> {
  const node = await clusterNode(t, '--cluster-replica-no-failover', 'yes')
  await introduce([node, master])
  const id = await master.command('cluster', 'myid')
  await until(async () => (await node.command('cluster', 'nodes')).includes(id))
  await until(async () => (await node.command('cluster', 'replicate', id)) === 'OK')
  await until(async () => (await node.command('info', 'replication')).includes('master_link_status:up'))
  await acquainted([...nodes, node])
  return node
}

/** Kills a master once its replica has all that it acknowledged: Redis itself does not wait for that. */
export async function stopOnceCopied(master: RedisServer, replica: RedisServer): Promise<void> {
  await master.command('client', 'pause', '60000', 'write')
  const offset = async (server: RedisServer, name: string): Promise<string | undefined> =>
    new RegExp(`^${name}:(\\d+)`, 'm').exec(await server.command('info', 'replication'))?.[1]
  await until(async () => (await offset(master, 'master_repl_offset')) === (await offset(replica, 'slave_repl_offset')))
  await master.stop()
}

/** Resolves once the condition holds; rejects after thirty seconds. For events that cannot be listened to. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 30_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('The condition did not hold within thirty seconds')
    await pause(20)
  }
}

/** A proxy in front of a server that can delay replies, lose the one to a command, or lead to another server; connections end with their server. */
export async function detour(t: Test, server: RedisServer) {
  const line = { url: '', target: server, delayMs: 0, loses: undefined as RegExp | undefined }
  const open = new Set<Socket>()
  line.url = await listening(t, (near) => {
    const far = connect(line.target.port, '127.0.0.1')
    let isLost = false
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        open.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.on('data', (data) => {
      isLost = line.loses?.test(String(data)) === true
      if (isLost) line.loses = undefined
      far.write(data)
    })
    far.on('data', (data) => {
      if (isLost) near.destroy()
      else if (line.delayMs > 0) setTimeout(() => near.write(data), line.delayMs)
      else near.write(data)
    })
  })
  t.teardown(() => {
    for (const socket of open) socket.destroy()
  })
  return line
}

/** The value of `REDIS_URL` for a server that closes with its test. */
export async function listening(t: Test, accept: (socket: Socket) => void): Promise<string> {
  const server = createServer(accept).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return `redis://127.0.0.1:${portOf(server)}`
}

export const portOf = (server: Server): number => (server.address() as AddressInfo).port

/** Outside the range of ephemeral ports: no other process takes one of these while its server is down. */
const PORTS = { from: 20_000, to: 32_000 }

const isListening = (one: EventEmitter): Promise<boolean> => once(one, 'listening').then(Boolean, () => false)

/**
 * A port without a listener, which no other call gets: until this process ends, it holds the UDP port of that number. Otherwise one
 * cluster in 800 had two servers with the same port.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(PORTS.from, PORTS.to)
  if (!(await isListening(createSocket('udp4').unref().bind(port, '127.0.0.1')))) return freePort()
  const server = createServer().listen(port, '127.0.0.1')
  if (!(await isListening(server))) return freePort()
  server.close()
  await once(server, 'close')
  return port
}
