/** Real Redis servers for tests, one process each on a port of its own; they end with the test that asked for them. */
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)

/** For tap's `skip`: a reason where redis-server is missing. In CI it must not be, so there this module throws. */
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

  /** Accepts connections from now on, but answers nobody. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Ends at once, as in a crash; `start` begins anew, empty unless the server keeps a log. */
  async stop(): Promise<void> {
    const child = this.#process
    this.#process = undefined
    if (child?.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  /** Runs one command and gives what redis-cli prints. */
  async command(...args: string[]): Promise<string> {
    return (await run('redis-cli', ['-p', String(this.port), ...args])).stdout.trim()
  }
}

/** A running server of its own for this test. `options` are those of redis-server. */
export async function redisServer(t: Test, ...options: string[]): Promise<RedisServer> {
  const dir = mkdtempSync(join(tmpdir(), 'gps-redis-'))
  const server = new RedisServer(await freePort(), dir, options)
  t.teardown(async () => {
    await server.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  await server.start()
  return server
}

const SLOTS = [
  [0, 5460],
  [5461, 10922],
  [10923, 16383],
] as const

/** Three masters that share the slots; `url` is what `REDIS_URL` would be. */
export async function redisCluster(t: Test, ...options: string[]): Promise<{ url: string; nodes: RedisServer[] }> {
  const nodes = await Promise.all(SLOTS.map(() => clusterNode(t, ...options)))
  for (const [i, [from, to]] of SLOTS.entries()) {
    await nodes[i]?.command('cluster', 'addslotsrange', String(from), String(to))
    await nodes[i]?.command('cluster', 'set-config-epoch', String(i + 1))
  }
  await introduce(nodes)
  await until(async () => {
    const states = await Promise.all(nodes.map((node) => node.command('cluster', 'info')))
    return states.every((state) => state.includes('cluster_state:ok') && state.includes('cluster_known_nodes:3'))
  })
  return { url: nodes.map(({ url }) => url).join(','), nodes }
}

async function clusterNode(t: Test, ...options: string[]): Promise<RedisServer> {
  const port = String(await freePort())
  const cluster = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', '--cluster-port', port]
  return redisServer(t, ...cluster, ...options)
}

/**
 * A node that follows `master` and takes its place when told to by `cluster failover takeover`: how long an election takes depends on the
 * machine. Resolves when it has what the master has, and all `nodes` know it.
 */
export async function clusterReplica(t: Test, master: RedisServer, nodes: RedisServer[]): Promise<RedisServer> {
  const node = await clusterNode(t, '--cluster-replica-no-failover', 'yes')
  await introduce([node, master])
  const id = await master.command('cluster', 'myid')
  await until(async () => (await node.command('cluster', 'nodes')).includes(id))
  await until(async () => (await node.command('cluster', 'replicate', id)) === 'OK')
  await until(async () => (await node.command('info', 'replication')).includes('master_link_status:up'))
  const replica = `${await node.command('cluster', 'myid')} `
  const knows = async (other: RedisServer): Promise<boolean> =>
    (await other.command('cluster', 'nodes'))
      .split('\n')
      .some((line) => line.startsWith(replica) && line.includes('slave'))
  await until(async () => (await Promise.all(nodes.map(knows))).every(Boolean))
  return node
}

/** Kills a master once its replica has all that it acknowledged, for Redis itself does not wait for that; it takes no more meanwhile. */
export async function stopOnceCopied(master: RedisServer, replica: RedisServer): Promise<void> {
  await master.command('client', 'pause', '60000', 'write')
  const offset = async (server: RedisServer, name: string): Promise<string | undefined> =>
    new RegExp(`^${name}:(\\d+)`, 'm').exec(await server.command('info', 'replication'))?.[1]
  await until(async () => (await offset(master, 'master_repl_offset')) === (await offset(replica, 'slave_repl_offset')))
  await master.stop()
}

async function introduce(nodes: RedisServer[]): Promise<void> {
  const [first, ...others] = nodes
  for (const node of others) {
    const busPort = /@(\d+)/.exec(await node.command('cluster', 'nodes'))?.[1] ?? ''
    await first?.command('cluster', 'meet', '127.0.0.1', String(node.port), busPort)
  }
}

/** Resolves once the condition holds; rejects after ten seconds. For events outside this process that announce themselves to nobody. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 10_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error('Waited ten seconds in vain')
    await pause(20)
  }
}

/** Not among the ports that are given to whoever asks for any: nobody takes one of these while its server is down. */
const PORTS = { from: 20_000, to: 32_000 }

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const port = randomInt(PORTS.from, PORTS.to)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!isFree) return freePort()
  server.close()
  await once(server, 'close')
  return port
}
