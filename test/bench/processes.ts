/** The child processes of the benchmark: each is pinned to a core, awaited until it listens, and killed with its process group. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Kind } from './servers.js'

const nginxFile = '/usr/sbin/nginx'
const has = (program: string): boolean => spawnSync('which', [program]).status === 0
export const missingPrograms = (): string[] => ['wrk', 'redis-server', nginxFile].filter((program) => !has(program))

export const isPinned = has('taskset') && availableParallelism() > 1

/** The measured server has one core to itself; the load and all servers behind the measured one share the other. */
type Role = 'measured' | 'load'
const cores: Record<Role, string> = { measured: '0', load: '1' }

/** Moves this process, which makes part of the load, to the core of the load. */
export function pinToLoadCore(): void {
  if (isPinned) execFileSync('taskset', ['-a', '-p', '-c', cores.load, String(process.pid)], { stdio: 'ignore' })
}

let root: string | undefined
const running = new Set<ChildProcess>()

export function newFolder(name: string): string {
  root ??= mkdtempSync(join(tmpdir(), 'gateway-bench-'))
  return mkdtempSync(join(root, `${name}-`))
}

/** Kills a process and all of its group, such as the workers of nginx. */
function kill({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {} // the group is empty
}

export const killAll = (): void => running.forEach(kill)

process.once('exit', () => {
  killAll()
  if (root !== undefined) rmSync(root, { recursive: true, force: true, maxRetries: 5 })
})

function start(role: Role, command: string[], cwd: string, output: number | 'pipe', env: NodeJS.ProcessEnv = {}) {
  const [program = '', ...args] = isPinned ? ['taskset', '-c', cores[role], ...command] : command
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', output, output === 'pipe' ? 'ignore' : output],
    detached: true, // a process group of its own
  })
  running.add(child)
  child.once('exit', () => {
    kill(child) // whatever the child has left behind
    running.delete(child)
  })
  return child
}

/** Runs a program on the core of the load. @returns its output. @throws when it fails. */
export async function run(command: string[]): Promise<string> {
  const child = start('load', command, newFolder('run'), 'pipe')
  const [output, [code]] = await Promise.all([text(child.stdout as NodeJS.ReadableStream), once(child, 'close')])
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${output}`)
  return output
}

export interface Server {
  /** `http://127.0.0.1:<port>` */
  url: string
  pid: number
  end(): Promise<unknown>
}

/** Starts a server in a folder of its own, which also holds its log. @param commandOf what to run there. */
async function serve(
  role: Role,
  commandOf: (port: string, dir: string) => string[],
  env: Record<string, string> = {},
): Promise<Server> {
  const [port, dir] = [String(await freePort()), newFolder('server')]
  const [log, command] = [join(dir, 'log'), commandOf(port, dir)]
  const file = openSync(log, 'a')
  const child = start(role, command, dir, file, { PORT: port, DATA_DIR: join(dir, 'data'), ...env })
  closeSync(file)
  if (!(await isListening(child, Number(port))))
    throw new Error(`${command.join(' ')} did not start:\n${readFileSync(log, 'utf8').slice(-2_000)}`)
  const end = (): Promise<unknown> => {
    const exited = once(child, 'exit')
    kill(child)
    return exited
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, end }
}

/** A folder with a built gateway; `label` is put before its rows. */
export interface Build {
  label: string
  folder: string
}

/** A gateway as `npm start` runs it in the build's folder. */
export function gateway({ folder }: Build, env: Record<string, string>): Promise<Server> {
  const { scripts } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { scripts: { start: string } }
  const args = scripts.start.split(' ').slice(1)
  const main = join(folder, args.pop() ?? '')
  if (!existsSync(main)) throw new Error(`${main} does not exist: run \`npm run build\` in ${folder}`)
  const settings = { HOST: '127.0.0.1', OPS_PORT: '0', RATE_LIMIT_MAX: '1000000000', PLATFORM_TIMEOUT_MS: '60000' }
  return serve('measured', () => [process.execPath, ...args, main], { ...settings, ...env })
}

/** One of the servers of `servers.ts`. */
export function peer(kind: Kind, argument: string, role: Role = 'measured'): Promise<Server> {
  const file = fileURLToPath(new URL('servers.js', import.meta.url))
  return serve(role, (port) => [process.execPath, file, kind, port, argument])
}

/** A Redis without persistence. @returns its URL. */
export async function redis(): Promise<string> {
  const { url } = await serve('load', (port) => ['redis-server', '--port', port, '--bind', '127.0.0.1', '--save', ''])
  return url.replace('http:', 'redis:')
}

/** nginx before `upstream`; with `isCaching` it keeps each response for five seconds. */
export function nginx(upstream: string, isCaching: boolean): Promise<Server> {
  const cache = isCaching ? 'proxy_cache c; proxy_cache_valid 200 5s; proxy_cache_lock on;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return serve('measured', (port, dir) => {
    const paths = temporary.map((name) => `${name}_temp_path ${dir}/${name};`).join(' ')
    const file = join(dir, 'nginx.conf')
    writeFileSync(
      file,
      `${process.getuid?.() === 0 ? 'user root; ' : ''}daemon off; worker_processes 1; pid ${dir}/pid; events { worker_connections 1024; }
      http { access_log off; keepalive_requests 1000000000; ${paths} proxy_cache_path ${dir}/cache keys_zone=c:8m;
        upstream up { server ${new URL(upstream).host}; keepalive 128; }
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection ""; ${cache} } } }`,
    )
    return [nginxFile, '-c', file, '-e', `${dir}/error`]
  })
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

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
