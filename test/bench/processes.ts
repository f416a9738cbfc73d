/** The child processes of the benchmark: each is pinned to a core, awaited until it listens, and ended with its process group. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePort } from '../redis.js'
import type { Kind } from './servers.js'

const nginxFile = '/usr/sbin/nginx'
const has = (program: string): boolean => spawnSync('which', [program]).status === 0
export const missingPrograms = (): string[] => ['wrk', 'redis-server', nginxFile].filter((program) => !has(program))

export const isPinned = has('taskset') && availableParallelism() > 1
/** The measured server has one core to itself; the load and all servers behind the measured one share the other. */
const cores = { measured: '0', load: '1' }
type Core = keyof typeof cores

/** Moves this process, which makes part of the load, to the core of the load. */
export function pinToLoadCore(): void {
  if (isPinned) execFileSync('taskset', ['-a', '-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
}

/** A folder with a built gateway; `label` is put before its rows. */
export interface Build {
  label: string
  folder: string
}

export interface Server {
  /** `http://127.0.0.1:<port>` */
  url: string
  pid: number
  end(): Promise<void>
}

export class Processes {
  readonly #folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  readonly #running = new Set<ChildProcess>()
  isClosed = false

  /** A gateway as `npm start` runs it in the build's folder, with its log in a file. */
  async gateway({ folder }: Build, env: Record<string, string>): Promise<Server> {
    const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { start: string } }
    const args = scripts.start.split(' ').slice(1)
    const main = join(folder, args.pop() ?? '')
    if (!existsSync(main)) throw new Error(`${main} does not exist: run \`npm run build\` in ${folder}`)
    const port = await freePort()
    const settings = {
      HOST: '127.0.0.1',
      PORT: String(port),
      OPS_PORT: '0',
      DATA_DIR: this.folder('data'),
      RATE_LIMIT_MAX: '1000000000',
      PLATFORM_TIMEOUT_MS: '60000',
    }
    return this.#start('measured', [process.execPath, ...args, main], port, { ...settings, ...env })
  }

  /** One of the servers of `servers.ts`. */
  async peer(kind: Kind, argument: string, core: Core = 'measured'): Promise<Server> {
    const port = await freePort()
    const file = fileURLToPath(new URL('servers.js', import.meta.url))
    return this.#start(core, [process.execPath, file, kind, String(port), argument], port)
  }

  /** A Redis without persistence. @returns its URL. */
  async redis(): Promise<string> {
    const port = await freePort()
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', this.folder('redis')]
    await this.#start('load', ['redis-server', ...args], port)
    return `redis://127.0.0.1:${port}`
  }

  /** nginx before `upstream`; with `isCaching` it keeps each response for five seconds. */
  async nginx(upstream: string, isCaching: boolean): Promise<Server> {
    const [port, dir] = [await freePort(), this.folder('nginx')]
    const cache = isCaching ? 'proxy_cache c; proxy_cache_valid 200 5s; proxy_cache_lock on;' : ''
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    const paths = temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')
    const file = join(dir, 'nginx.conf')
    writeFileSync(
      file,
      `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${dir}/pid; events { worker_connections 1024; }
      http { access_log off; keepalive_requests 1000000000; ${paths} proxy_cache_path ${dir}/cache keys_zone=c:8m;
        upstream up { server ${new URL(upstream).host}; keepalive 128; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; ${cache} } } }`,
    )
    return this.#start('measured', [nginxFile, '-c', file, '-e', `${dir}/error`], port)
  }

  /** Runs a program on the core of the load. @returns its output. @throws when it fails. */
  async run(command: string[]): Promise<string> {
    const child = this.#spawn('load', command, 'pipe')
    const [output, [code]] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'close')])
    if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${output}`)
    return output
  }

  folder(name: string): string {
    return mkdtempSync(join(this.#folder, `${name}-`))
  }

  /** Ends every running process and waits for it. */
  async endAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.#end(child)))
  }

  /** Ends everything for good: later starts throw. */
  async close(): Promise<void> {
    this.isClosed = true
    await this.endAll()
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** The last resort of an exiting process, which cannot wait. */
  killAll(): void {
    for (const child of this.#running) killGroup(child)
  }

  async #end(child: ChildProcess): Promise<void> {
    if (!this.#running.has(child)) return
    const exited = once(child, 'exit')
    killGroup(child)
    await exited
  }

  #spawn(core: Core, command: string[], output: number | 'pipe', env: Record<string, string> = {}): ChildProcess {
    if (this.isClosed) throw new Error('the benchmark is ending')
    const [program = '', ...args] = isPinned ? ['taskset', '-c', cores[core], ...command] : command
    const child = spawn(program, args, {
      cwd: this.#folder,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      stdio: ['ignore', output, output === 'pipe' ? 'ignore' : output],
      detached: true, // a process group of its own, with the workers of nginx
    })
    this.#running.add(child)
    child.once('exit', () => {
      killGroup(child) // whatever the child has left behind
      this.#running.delete(child)
    })
    return child
  }

  async #start(core: Core, command: string[], port: number, env?: Record<string, string>): Promise<Server> {
    const log = join(this.folder('log'), 'out')
    const file = openSync(log, 'a')
    const child = this.#spawn(core, command, file, env)
    closeSync(file)
    if (!(await isListening(child, port)))
      throw new Error(`${command.join(' ')} did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
    return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, end: () => this.#end(child) }
  }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {} // the group is empty
}

async function isListening(child: ChildProcess, port: number): Promise<boolean> {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(5)) {
    if (child.exitCode !== null || child.signalCode !== null) return false
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(Boolean, () => false)
    socket.destroy()
    if (isOpen) return true
  }
  return false
}
