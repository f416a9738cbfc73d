/** Child processes of a benchmark and their lifetimes: what is measured has one core to itself, everything else shares the other. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../../', import.meta.url))
/** What `npm start` gives to node. */
const startWords = (): string[] =>
  JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    .scripts.start.split(' ')
    .slice(1)
    .map((word: string) => (word.startsWith('-') ? word : join(root, word)))
const peerFile = fileURLToPath(new URL('peer.js', import.meta.url))

export const has = (program: string): boolean =>
  spawnSync('which', [program]).status === 0 ||
  (program === 'nginx' && spawnSync('/usr/sbin/nginx', ['-v']).status === 0)

export const pins = has('taskset') && availableParallelism() > 1
const cores = { measured: '0', other: '1' }
export type Core = keyof typeof cores

/** This process makes load, too: it leaves the first core to what is measured. */
export function stepAside(): void {
  if (pins) execFileSync('taskset', ['-a', '-p', '-c', cores.other, String(process.pid)], { stdio: 'ignore' })
}

export interface Part {
  /** `http://127.0.0.1:<port>` */
  url: string
  opsUrl: string
  pid: number
  end(): Promise<void>
}

/** `VmRSS` (now) or `VmHWM` (the most so far) of a process, MB. */
export function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024)
}

/** Processor time of a process so far, milliseconds (proc(5): ticks of 10 ms); 0 where none is asked for. */
export function cpuMsOf(pid: number | undefined): number {
  if (pid === undefined) return 0
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return 10 * (Number(fields[11]) + Number(fields[12]))
}

/** A hash of an account with so many devices, as the platform of `peer.ts` reads it. */
export const hashOf = (devices: number, account = 0): string => `$2y$10$${`n${devices}a${account}.`.padEnd(53, '/')}`

export class Parts {
  readonly #dir = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  readonly #running = new Set<Part>()

  /** A gateway as it is deployed: everything on, its log in a file. */
  async gateway(env: Record<string, string> = {}): Promise<Part> {
    const [port, ops] = [await freePort(), await freePort()]
    const settings = {
      HOST: '127.0.0.1',
      PORT: String(port),
      OPS_PORT: String(ops),
      DATA_DIR: this.folder('data'),
      RATE_LIMIT_MAX: '1000000000',
      PLATFORM_TIMEOUT_MS: '60000',
    }
    return this.#start('measured', process.execPath, startWords(), {
      port,
      ops,
      ready: '/api/health',
      env: { ...settings, ...env },
    })
  }

  async peer(
    kind: 'bare' | 'framework' | 'proxy' | 'gateway' | 'platform',
    argument: string,
    core: Core = 'measured',
  ): Promise<Part> {
    const port = await freePort()
    return this.#start(core, process.execPath, [peerFile, kind, String(port), argument], { port })
  }

  async redis(): Promise<string> {
    const port = await freePort()
    await this.#start(
      'other',
      'redis-server',
      ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder('redis')],
      { port },
    )
    return `redis://127.0.0.1:${port}`
  }

  /** In front of `upstream`; `caches` keeps every answer for five seconds. */
  async nginx(upstream: string, caches: boolean): Promise<Part> {
    const [port, dir] = [await freePort(), this.folder('nginx')]
    const cache = caches ? 'proxy_cache c; proxy_cache_valid 200 5s; proxy_cache_lock on;' : ''
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
      .map((name) => `${name}_temp_path ${dir}/${name};`)
      .join(' ')
    writeFileSync(
      join(dir, 'nginx.conf'),
      `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${dir}/pid; error_log ${dir}/error.log; events { worker_connections 1024; }
      http { access_log off; keepalive_requests 1000000000; ${paths} proxy_cache_path ${dir}/cache keys_zone=c:8m;
        upstream up { server ${new URL(upstream).host}; keepalive 128; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; ${cache} } } }`,
    )
    return this.#start('measured', '/usr/sbin/nginx', ['-c', join(dir, 'nginx.conf'), '-e', join(dir, 'error.log')], {
      port,
    })
  }

  folder(name: string): string {
    return mkdtempSync(join(this.#dir, `${name}-`))
  }

  async end(): Promise<void> {
    await Promise.all([...this.#running].map((part) => part.end()))
    rmSync(this.#dir, { recursive: true, force: true, maxRetries: 5 })
  }

  async #start(
    core: Core,
    program: string,
    args: string[],
    { port, ops = 0, ready, env = {} }: { port: number; ops?: number; ready?: string; env?: Record<string, string> },
  ): Promise<Part> {
    const log = join(this.folder('log'), 'out')
    const file = openSync(log, 'a')
    const [command, ...rest] = pins ? ['taskset', '-c', cores[core], program, ...args] : [program, ...args]
    const child = spawn(command as string, rest, { env: { ...process.env, ...env }, stdio: ['ignore', file, file] })
    closeSync(file)
    const part: Part = {
      url: `http://127.0.0.1:${port}`,
      opsUrl: `http://127.0.0.1:${ops}`,
      pid: child.pid ?? 0,
      end: async () => {
        this.#running.delete(part)
        if (child.exitCode !== null || child.signalCode !== null) return
        child.kill('SIGKILL')
        await once(child, 'exit')
      },
    }
    this.#running.add(part)
    await isReady(child, port, ready).catch(() => {
      throw new Error(`${program} ${args[1] ?? ''} did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    })
    return part
  }
}

async function isReady(child: ChildProcess, port: number, path: string | undefined): Promise<void> {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; await pause(5)) {
    if (child.exitCode !== null) break
    const answers =
      path === undefined
        ? await connects(port)
        : await fetch(`http://127.0.0.1:${port}${path}`).then(
            ({ ok }) => ok,
            () => false,
          )
    if (answers) return
  }
  throw new Error('not ready')
}

async function connects(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  return once(socket, 'connect')
    .then(
      () => true,
      () => false,
    )
    .finally(() => socket.destroy())
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
