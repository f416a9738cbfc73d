/** Programs as processes of their own, which end with their test; above all the gateway, as `node dist/main.js` starts it. */
import { type ChildProcessWithoutNullStreams, type SpawnOptionsWithoutStdio, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { join } from 'node:path'
import { temporaryFolder } from './folder.js'
import type { Test } from './helper.js'
import { program, withEnv } from './program.js'

/** A process, and all it prints. */
export class Program {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: string[] = []
  readonly #output = new EventEmitter()
  /** What signals are sent to: with `detached`, all processes that it has started as well. */
  readonly #target: number
  /** Exit code, or null for a signal; by then all it printed has been read. */
  readonly exited: Promise<number | null>

  constructor(t: Test, command: string, args: readonly string[], options: SpawnOptionsWithoutStdio = {}) {
    this.#child = spawn(command, args, options)
    this.#target = this.pid * (options.detached ? -1 : 1)
    this.exited = once(this.#child, 'close').then(([code]) => code)
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#lines.push(text)
        this.#output.emit('text')
      })
    t.teardown(() => {
      this.signal('SIGKILL')
      return this.exited
    })
  }

  /** Everything printed so far. */
  get log(): string {
    return this.#lines.join('')
  }

  get pid(): number {
    return this.#child.pid ?? Number.NaN
  }

  signal(name: NodeJS.Signals): void {
    try {
      process.kill(this.#target, name)
    } catch {} // it has ended
  }

  /** The first match in what it prints, or the first group of it. @throws when it ends before. */
  async printed(pattern: RegExp): Promise<string> {
    for (let hasEnded = false; ; ) {
      const [all, group = all] = pattern.exec(this.log) ?? []
      if (group !== undefined) return group
      if (hasEnded) throw new Error(`ended early, exit code ${await this.exited}:\n${this.log}`)
      hasEnded = await Promise.race([once(this.#output, 'text').then(() => false), this.exited.then(() => true)])
    }
  }
}

export class GatewayProcess extends Program {
  /** `http://127.0.0.1:<port>/api` */
  url = ''
  opsUrl = ''
  port = 0

  constructor(t: Test, args: readonly string[], env: Record<string, string>) {
    const settings = { HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0', RATE_LIMIT_MAX: '1000000' }
    super(t, process.execPath, [program('main.js'), ...args], withEnv({ ...settings, ...env }))
  }

  /** Resolves when it listens. */
  async ready(): Promise<this> {
    // Said last.
    this.opsUrl = await this.printed(/operations on (http:\/\/127\.0\.0\.1:\d+)/)
    this.url = await this.printed(/listening on (http:\/\/127\.0\.0\.1:\d+\/api)/)
    this.port = Number(new URL(this.url).port)
    return this
  }

  /** GETs a path below `/api` with a credential, and reads the body to its end. */
  async get(path: string, credential = 'demo'): Promise<{ status: number; text: string }> {
    const response = await fetch(this.url + path, { headers: { authorization: `Bearer ${credential}` } })
    return { status: response.status, text: await response.text() }
  }

  /** What `/metrics` says. */
  async metrics(): Promise<string> {
    return (await fetch(`${this.opsUrl}/metrics`)).text()
  }

  /** The value of a metric, with its labels; 0 for none. */
  async metric(name: string): Promise<number> {
    const line = (await this.metrics()).split('\n').find((line) => line.startsWith(`${name} `))
    return Number(line?.split(' ')[1] ?? 0)
  }
}

/** A gateway process with a data folder of its own, listening. */
export const gatewayProcess = (t: Test, env: Record<string, string> = {}): Promise<GatewayProcess> =>
  new GatewayProcess(t, [], { DATA_DIR: join(temporaryFolder(t), 'data'), ...env }).ready()
