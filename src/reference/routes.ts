/** `GET /openapi.json` and `GET /docs`: the document, and the page that explains and shows it. Knows no resource. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import swagger from '@fastify/swagger'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import { documentOf, securitySchemes } from './document.js'
import type { Facts } from './introduction.js'
import type { OpenApi } from './openapi.js'
import { pageOf } from './page.js'

/** The page may load and ask only what stands beside it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ')

const modules = createRequire(import.meta.url)
const own = (name: string, type: string): Asset => asset(new URL(`./assets/${name}`, import.meta.url), type)
const bundled = (name: string, type: string): Asset => asset(modules.resolve(`swagger-ui-dist/${name}`), type)

interface Asset {
  type: string
  bytes: Buffer
  /** Changes with the content: part of the address, so that the file can be kept for ever. */
  tag: string
}

function asset(path: URL | string, type: string): Asset {
  const bytes = readFileSync(path)
  return { type, bytes, tag: createHash('sha256').update(bytes).digest('hex').slice(0, 12) }
}

const readAssets = (): Map<string, Asset> =>
  new Map([
    ['icon.svg', own('icon.svg', 'image/svg+xml')],
    ['page.css', own('page.css', 'text/css; charset=utf-8')],
    ['operations.css', own('operations.css', 'text/css; charset=utf-8')],
    ['page.js', own('page.js', 'text/javascript; charset=utf-8')],
    ['map.js', own('map.js', 'text/javascript; charset=utf-8')],
    ['map-drawing.js', own('map-drawing.js', 'text/javascript; charset=utf-8')],
    ['swagger-ui.css', bundled('swagger-ui.css', 'text/css; charset=utf-8')],
    ['swagger-ui-bundle.js', bundled('swagger-ui-bundle.js', 'text/javascript; charset=utf-8')],
  ])

/** Gathers what routes say of themselves; to be called before any route is registered. */
export async function gatherRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', components: { securitySchemes } },
    hideUntagged: true,
    stripBasePath: false,
    convertConstToEnum: false,
    transform: ({ schema, url }) => ({ schema, url: url.replace(/^\/api(?=\/)/, '') }),
  })
}

/** The routes of the reference; whoever registers them counts their callers. */
export function reference(app: App, facts: Facts, version: string): void {
  const assets = readAssets()
  const html = Buffer.from(pageOf(facts, version, (name) => `docs/${name}?v=${assets.get(name)?.tag}`))
  let document = Buffer.alloc(0)
  app.addHook('onReady', async () => {
    const { paths } = app.swagger() as unknown as Pick<OpenApi, 'paths'>
    document = Buffer.from(`${JSON.stringify(documentOf(paths, facts.publicUrl, version), null, 2)}\n`)
  })
  app.get('/openapi.json', async (request, reply) =>
    send(request, reply.header('Cache-Control', 'no-cache'), 'application/json; charset=utf-8', document),
  )
  app.get('/docs', async (request, reply) => {
    // The addresses in the page are relative to one without a slash at the end.
    if (request.url.split('?')[0]?.endsWith('/')) return reply.redirect('../docs', 308)
    reply.headers({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' })
    return send(request, reply, 'text/html; charset=utf-8', html)
  })
  app.get<{ Params: { name: string }; Querystring: { v?: string } }>('/docs/:name', async (request, reply) => {
    const found = assets.get(request.params.name)
    if (!found) throw new ApiError('not_found', { message: 'There is no such path.' })
    const isExact = request.query.v === found.tag
    reply.header('Cache-Control', isExact ? 'public, max-age=31536000, immutable' : 'no-cache')
    return send(request, reply, found.type, found.bytes)
  })
}

const compress = promisify(gzip)
const compressed = new WeakMap<Buffer, Promise<Buffer>>()

async function send(request: FastifyRequest, reply: FastifyReply, type: string, bytes: Buffer): Promise<FastifyReply> {
  reply
    .type(type)
    .headers({ 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer', Vary: 'Accept-Encoding' })
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(bytes)
  const small = compressed.get(bytes) ?? compress(bytes)
  compressed.set(bytes, small)
  return reply.header('Content-Encoding', 'gzip').send(await small)
}
