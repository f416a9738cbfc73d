/** The other servers of a benchmark, one per process: `node peer.js <kind> <port> <argument>`. Knows no gateway. */
import { createServer, type ServerResponse } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import httpProxy from '@fastify/http-proxy'
import fastGateway from 'fast-gateway'
import { fastify } from 'fastify'
import { buildSandbox, sandboxAccounts } from '../../src/sandbox/sandbox.js'

const json = 'application/json; charset=utf-8'

/** The floor of the runtime: one constant answer. */
function bare(port: number, text: string): void {
  const body = Buffer.from(text)
  createServer((_request, response) => {
    response.writeHead(200, { 'content-type': json, 'content-length': body.length })
    response.end(body)
  }).listen(port, '127.0.0.1')
}

async function framework(port: number, text: string): Promise<void> {
  const app = fastify()
  app.get('/*', (_request, reply) => reply.type(json).send(text))
  await app.listen({ host: '127.0.0.1', port })
}

async function proxy(port: number, upstream: string): Promise<void> {
  const app = fastify()
  await app.register(httpProxy, { upstream })
  await app.listen({ host: '127.0.0.1', port })
}

const gateway = (port: number, target: string): Promise<unknown> =>
  fastGateway({ routes: [{ prefix: '/api', prefixRewrite: '/api', target }] }).start(port, '127.0.0.1')

/**
 * A platform that costs almost nothing: the sandbox's answers, each made once. The hash says how many devices its account has
 * (`…n<devices>a<account>.…`). `/calls` tells how often a list or a device was asked for.
 */
function platform(port: number, latencyMs: number): void {
  const sandboxes = new Map<string, (path: string) => Promise<Buffer>>()
  const answers = new Map<string, Promise<Buffer>>()
  let calls = 0
  const sandboxOf = (devices: string): ((path: string) => Promise<Buffer>) => {
    const app = buildSandbox({ devices: Number(devices) })
    const hash = sandboxAccounts(7, Number(devices))[0]?.hash ?? ''
    const known = async (path: string): Promise<Buffer> => {
      const { rawPayload } = await app.inject(
        `${path}${path.includes('?') ? '&' : '?'}user_api_hash=${encodeURIComponent(hash)}`,
      )
      return rawPayload
    }
    sandboxes.set(devices, known)
    return known
  }
  const answer = async (url: URL, response: ServerResponse): Promise<void> => {
    const hash = url.searchParams.get('user_api_hash') ?? ''
    const [, devices = '50', account = '0'] = /n(\d+)a(\d+)/.exec(hash) ?? []
    if (latencyMs > 0) await pause(latencyMs)
    if (url.pathname === '/calls') return void response.end(String(calls))
    if (url.pathname === '/api/get_user_data')
      return void response.end(`{"status":1,"email":"bench-${devices}-${account}@example.com"}`)
    if (url.pathname === '/api/get_devices') calls += 1
    for (const name of ['user_api_hash', 'lang']) url.searchParams.delete(name)
    const path = `${url.pathname}${url.search}`
    const name = `${devices} ${path}`
    const made = answers.get(name) ?? (sandboxes.get(devices) ?? sandboxOf(devices))(path)
    answers.set(name, made)
    const body = await made
    response.setHeader('content-length', body.length)
    response.end(body)
  }
  createServer((request, response) => {
    response.setHeader('content-type', json)
    void answer(new URL(request.url ?? '/', 'http://localhost'), response)
  }).listen(port, '127.0.0.1')
}

const [kind = '', port = '', argument = ''] = process.argv.slice(2)
const kinds: Record<string, (port: number, argument: string) => unknown> = {
  bare,
  framework,
  proxy,
  gateway,
  platform: (at, latency) => platform(at, Number(latency)),
}
await kinds[kind]?.(Number(port), argument)
