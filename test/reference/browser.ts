/** A headless Chromium over its DevTools protocol: opens pages, evaluates, takes pictures, and keeps every complaint and request. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { WebSocket } from 'undici'
import type { Test } from '../helper.js'

const binary = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)

/** Undefined where Chromium may be and is missing; in CI it must not be. */
export const hasChromium = (): boolean => {
  if (!binary && process.env.CI) throw new Error('CI needs chromium: apt-get install chromium')
  return binary !== undefined
}

type Params = Record<string, unknown>
interface Message {
  id?: number
  sessionId?: string
  method?: string
  // biome-ignore lint/suspicious/noExplicitAny: what the protocol sends has a shape per method
  params?: any
  // biome-ignore lint/suspicious/noExplicitAny: as above
  result?: any
  error?: { message: string }
}

export interface View {
  width: number
  height: number
  isDark?: boolean
  isStill?: boolean
}

/** One open page. */
export class Page {
  /** Console errors and warnings, exceptions, refusals of the content security policy. */
  readonly complaints: string[] = []
  readonly requests: string[] = []
  readonly #call: (method: string, params?: Params) => Promise<Message['result']>

  constructor(call: Page['call']) {
    this.#call = call
  }

  call(method: string, params: Params = {}): Promise<Message['result']> {
    return this.#call(method, params)
  }

  hear({ method, params }: Message): void {
    if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url)
    if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(params.exceptionDetails))
    if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) {
      this.complaints.push(`${params.entry.text} ${params.entry.url ?? ''}`)
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type)) {
      this.complaints.push(JSON.stringify(params.args))
    }
  }

  async goto(url: string): Promise<void> {
    await this.call('Page.navigate', { url })
    await this.until('document.readyState === "complete"')
  }

  /** The value of an expression, which may be a promise. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.call('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(`${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value as T
  }

  /** Waits until an expression is true. @throws after 15 seconds. */
  async until(expression: string): Promise<void> {
    const end = Date.now() + 15_000
    while (!(await this.evaluate<boolean>(`Boolean(${expression})`))) {
      if (Date.now() > end) throw new Error(`never true: ${expression}`)
      await wait(50)
    }
  }

  async press(key: string): Promise<void> {
    for (const type of ['keyDown', 'keyUp']) {
      await this.call('Input.dispatchKeyEvent', { type, key, code: key, windowsVirtualKeyCode: key === 'Tab' ? 9 : 13 })
    }
  }

  /** A PNG of what is seen, or of the whole page. */
  async picture(isWhole = false): Promise<Buffer> {
    const { data } = await this.call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: isWhole })
    return Buffer.from(data, 'base64')
  }
}

/** Starts Chromium; it ends with the test. Gives back a function that opens an empty page of a size and colour scheme. */
export async function browser(t: Test): Promise<(view: View) => Promise<Page>> {
  const profile = await mkdtemp(join(tmpdir(), 'chromium-'))
  const flags =
    '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --remote-debugging-port=0'
  const child = spawn(binary as string, [...flags.split(' '), `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exited = new Promise((done) => child.once('exit', done))
  const socket = await connected(child)
  t.teardown(async () => {
    socket.close()
    child.kill('SIGKILL')
    await exited
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  })
  return pagesOf(socket)
}

async function connected(child: ChildProcess): Promise<WebSocket> {
  const address = await new Promise<string>((found, failed) => {
    let said = ''
    child.once('exit', () => failed(new Error(`chromium ended: ${said}`)))
    child.stderr?.on('data', (chunk) => {
      said += chunk
      const url = /DevTools listening on (ws:\S+)/.exec(said)?.[1]
      if (url) found(url)
    })
  })
  const socket = new WebSocket(address)
  await new Promise((open) => socket.addEventListener('open', open, { once: true }))
  return socket
}

function pagesOf(socket: WebSocket): (view: View) => Promise<Page> {
  let last = 0
  const waiting = new Map<number, (message: Message) => void>()
  const pages = new Map<string, Page>()
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message
    if (message.id !== undefined) waiting.get(message.id)?.(message)
    else pages.get(message.sessionId ?? '')?.hear(message)
  })
  const call = (method: string, params: Params = {}, sessionId?: string) =>
    new Promise<Message['result']>((done, failed) => {
      const id = ++last
      waiting.set(id, ({ error, result }) => (error ? failed(new Error(`${method}: ${error.message}`)) : done(result)))
      socket.send(JSON.stringify({ id, method, params, sessionId }))
    })
  return async ({ width, height, isDark = false, isStill = false }) => {
    const { targetId } = await call('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true })
    const page = new Page((method, params) => call(method, params, sessionId))
    pages.set(sessionId, page)
    for (const domain of ['Page', 'Runtime', 'Network', 'Log']) await page.call(`${domain}.enable`)
    await page.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 600 })
    await page.call('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: isDark ? 'dark' : 'light' },
        { name: 'prefers-reduced-motion', value: isStill ? 'reduce' : 'no-preference' },
      ],
    })
    return page
  }
}
