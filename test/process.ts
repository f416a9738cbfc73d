/** The gateway as a process of its own, started as `node dist/main.js` would be; it ends with its test. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { temporaryFolder } from './folder.js'
import type { Test } from './helper.js'
import { program, withEnv } from './program.js'

export class GatewayProcess {
  readonly #child: ChildProcess
  readonly #lines: string[] = []
  /** Exit code, or null for a signal; by then all it printed has been read. */
  readonly exited: Promise<number | null>

  constructor(args: string[], env: Record<string, string>) {
    const settings = { HOST: '127.0.0.1', PORT: '0', OPS_PORT: '0', RATE_LIMIT_MAX: '1000000' }
    this.#child = fork(program('main.js'), args, withEnv({ ...settings, ...env }))
    this.exited = once(this.#child, 'close').then(([code]) => code)
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.#lines.push(text))
    }
  }

  /** Everything printed so far. */
  get log(): string {
    return this.#lines.join('')
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** `http://127.0.0.1:<port>/api` */
  get url(): string {
    return /listening on (http:\/\/127\.0\.0\.1:\d+\/api)/.exec(this.log)?.[1] ?? ''
  }

  get opsUrl(): string {
    return /operations on (http:\/\/127\.0\.0\.1:\d+)/.exec(this.log)?.[1] ?? ''
  }

  get port(): number {
    return Number(new URL(this.url).port)
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

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name)
  }

  /** Resolves when it listens. */
  async ready(): Promise<this> {
    while (this.opsUrl === '') {
      const next = once(this.#child.stdout as NodeJS.ReadableStream, 'data').then(() => true)
      if (!(await Promise.race([next, this.exited.then(() => false)]))) throw new Error(`ended early:\n${this.log}`)
    }
    return this
  }
}

/** A gateway process with a data folder of its own, listening. */
export async function gatewayProcess(t: Test, env: Record<string, string> = {}): Promise<GatewayProcess> {
  const child = new GatewayProcess([], { DATA_DIR: join(temporaryFolder(t), 'data'), ...env })
  t.teardown(async () => {
    child.signal('SIGKILL')
    await child.exited
  })
  return child.ready()
}
