/** A platform that costs almost nothing: the sandbox's answers, each made once and sent again and again. Knows no gateway. */
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'

/** Devices of the largest sandbox; a longer list is made of copies of its devices under other ids. */
const most = 1_000

interface Item {
  id: number
  device_data: { id: number }
}

type Groups = { items: Item[] }[]

/** The bytes of a list of so many devices, in parts; `text` is that of the largest sandbox. */
function copies(text: string, devices: number): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0; from < devices; from += most) {
    const groups = (JSON.parse(text) as Groups).map((group) => ({ ...group, items: shifted(group.items, from) }))
    const json = JSON.stringify(groups)
    parts.push(Buffer.from(`${from === 0 ? '[' : ','}${json.slice(1, -1)}`))
  }
  return [...parts, Buffer.from(']')]
}

const shifted = (items: Item[], by: number): Item[] =>
  items.map((item) => ({ ...item, id: item.id + by, device_data: { ...item.device_data, id: item.id + by } }))

/** The answers to one size of account. */
class Size {
  readonly #devices: number
  readonly #ask: (path: string) => Promise<Buffer>
  readonly #answers = new Map<string, Promise<Buffer[]>>()

  constructor(devices: number) {
    this.#devices = devices
    const app = buildSandbox({ devices: Math.min(devices, most) })
    const hash = encodeURIComponent(sandboxAccounts(7, Math.min(devices, most))[0]?.hash ?? '')
    this.#ask = async (path) =>
      (await app.inject(`${path}${path.includes('?') ? '&' : '?'}user_api_hash=${hash}`)).rawPayload
  }

  answer(path: string): Promise<Buffer[]> {
    const known = this.#answers.get(path) ?? this.#made(path)
    this.#answers.set(path, known)
    return known
  }

  async #made(path: string): Promise<Buffer[]> {
    const bytes = await this.#ask(path)
    return path === '/api/get_devices' && this.#devices > most ? copies(bytes.toString(), this.#devices) : [bytes]
  }
}

/**
 * Listens on 127.0.0.1. A hash says how many devices its account has (`…n<devices>a<account>.…`); any other is refused.
 * `/calls` tells how often each action was asked for.
 */
export function platform(port: number, latencyMs: number): void {
  const sizes = new Map<string, Size>()
  const calls: Record<string, number> = {}
  const answer = async (url: URL, response: ServerResponse): Promise<void> => {
    if (url.pathname === '/calls') return void response.end(JSON.stringify(calls))
    const action = url.pathname.slice('/api/'.length)
    calls[action] = (calls[action] ?? 0) + 1
    if (latencyMs > 0) await pause(latencyMs)
    const [, devices, account] = /n(\d+)a(\d+)/.exec(url.searchParams.get('user_api_hash') ?? '') ?? []
    if (devices === undefined)
      return void response.writeHead(401).end(JSON.stringify({ status: 0, error: 'Unauthorized' }))
    if (action === 'get_user_data')
      return void response.end(JSON.stringify({ status: 1, email: `bench-${devices}-${account}@example.com` }))
    for (const name of ['user_api_hash', 'lang']) url.searchParams.delete(name)
    const size = sizes.get(devices) ?? new Size(Number(devices))
    sizes.set(devices, size)
    const parts = await size.answer(`${url.pathname}${url.search}`)
    response.setHeader(
      'content-length',
      parts.reduce((sum, part) => sum + part.length, 0),
    )
    for (const part of parts) response.write(part)
    response.end()
  }
  createServer((request, response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8')
    void answer(new URL(request.url ?? '/', 'http://localhost'), response)
  }).listen(port, '127.0.0.1')
}
