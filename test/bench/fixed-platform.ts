/** A platform that costs almost nothing: it makes each response of the sandbox once and sends it again and again. */
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'

interface Row {
  id: number
  device_data: { id: number }
}

/** The list of so many devices, in parts: the rows of the sandbox again and again under other ids, in groups of 1,000. */
function listOf(json: string, devices: number): Buffer[] {
  const groups = JSON.parse(json) as { items: Row[] }[]
  const rows = groups.flatMap(({ items }) => items)
  const row = (index: number): Row => {
    const { id, device_data, ...rest } = rows[index % rows.length] as Row
    const newId = id + rows.length * Math.floor(index / rows.length)
    return { id: newId, ...rest, device_data: { ...device_data, id: newId } }
  }
  const parts: Buffer[] = []
  for (let from = 0; from < devices; from += 1_000) {
    const items = Array.from({ length: Math.min(1_000, devices - from) }, (_, i) => row(from + i))
    parts.push(Buffer.from(`${from === 0 ? '[' : ','}${JSON.stringify({ ...groups[0], items })}`))
  }
  return [...parts, Buffer.from(']')]
}

/** Listens on 127.0.0.1. Any hash but those of `hashOf` in bench.ts is refused. */
export function fixedPlatform(port: number, latencyMs: number): void {
  const sandbox = buildSandbox()
  const hash = encodeURIComponent(sandboxAccounts()[0].hash)
  const responses = new Map<string, Promise<Buffer[]>>()

  async function create(path: string, devices: number): Promise<Buffer[]> {
    const url = `${path}${path.includes('?') ? '&' : '?'}user_api_hash=${hash}`
    const { rawPayload } = await sandbox.inject(url)
    return path === '/api/get_devices' ? listOf(rawPayload.toString(), devices) : [rawPayload]
  }

  async function respond(url: URL): Promise<Buffer[] | undefined> {
    if (latencyMs > 0) await pause(latencyMs)
    const [, devices, account] = /n(\d+)a(\d+)/.exec(url.searchParams.get('user_api_hash') ?? '') ?? []
    if (devices === undefined) return undefined
    if (url.pathname === '/api/get_user_data')
      return [Buffer.from(JSON.stringify({ status: 1, email: `bench-${devices}-${account}@example.com` }))]
    for (const name of ['user_api_hash', 'lang']) url.searchParams.delete(name)
    const path = `${url.pathname}${url.search}`
    const key = `${devices} ${path}`
    const response = responses.get(key) ?? create(path, Number(devices))
    responses.set(key, response)
    return response
  }

  createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json; charset=utf-8')
    const parts = await respond(new URL(request.url ?? '/', 'http://localhost'))
    if (parts === undefined) return void response.writeHead(401).end('{"status":0,"error":"Unauthorized"}')
    const length = parts.reduce((sum, part) => sum + part.length, 0)
    response.setHeader('content-length', length)
    for (const part of parts) response.write(part)
    response.end()
  }).listen(port, '127.0.0.1')
}
