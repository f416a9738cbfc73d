/** `GET /openapi.json` and `GET /docs`: the OpenAPI document, and the page that explains and shows it. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import swagger from '@fastify/swagger'
import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import { createDocument, securitySchemes, shareSchemas } from './document.js'
import type { PathItem } from './openapi.js'
import { type Facts, renderPage } from './page.js'

/** The page loads and requests nothing from other origins. */
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

const types: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
}

const folder = fileURLToPath(new URL('./assets', import.meta.url))
const text = (name: string): string => readFileSync(join(folder, name), 'utf8')

/** By name: the files of the folder `assets`, and the console. */
function readAssets() {
  const own = readdirSync(folder).filter((name) => extname(name) in types)
  const modules = createRequire(import.meta.url)
  const bundled = ['swagger-ui.css', 'swagger-ui-bundle.js'].map((name) => modules.resolve(`swagger-ui-dist/${name}`))
  const assetAt = (path: string) => {
    const bytes = readFileSync(path)
    // Part of the URL, so that browsers can cache the file forever.
    const tag = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
    return [basename(path), { type: types[extname(path)] ?? '', bytes, tag }] as const
  }
  return new Map([...own.map((name) => join(folder, name)), ...bundled].map(assetAt))
}

/** Collects the definitions of all routes registered later. */
export async function gatherRoutes(app: App): Promise<void> {
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', components: { securitySchemes } },
    hideUntagged: true,
    convertConstToEnum: false,
    transform: ({ schema, url }) => ({ schema, url: url.replace(/^\/api(?=\/)/, '') }),
  })
}

/** @param count makes a hook that counts requests on a budget of their address, `times` as large as the usual one. */
export function reference(
  app: App,
  facts: Facts,
  version: string,
  count: (budget: string, times?: number) => onRequestAsyncHookHandler,
): void {
  const assets = readAssets()
  const onRequest = count('docs:')
  // With a small limit, the files of one visit would take all of it.
  const onAsset = count('assets:', assets.size)
  const asset = (name: string): string => `docs/${name}?v=${assets.get(name)?.tag}`
  let html = Buffer.alloc(0)
  let json = Buffer.alloc(0)
  app.addHook('onReady', async () => {
    const { paths } = app.swagger() as unknown as { paths: Record<string, PathItem> }
    const document = createDocument(paths, facts.publicUrl, version)
    json = Buffer.from(`${JSON.stringify(shareSchemas(document), null, 2)}\n`)
    html = Buffer.from(renderPage({ facts, document, text, asset }))
  })
  app.get('/openapi.json', { onRequest }, async (_request, reply) =>
    send(reply.header('Cache-Control', 'no-cache'), 'application/json; charset=utf-8', json),
  )
  app.get('/docs', { onRequest }, async (request, reply) => {
    // The URLs in the page are relative to one without a trailing slash.
    if (request.url.split('?')[0]?.endsWith('/')) return reply.redirect('../docs', 308)
    reply.headers({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache' })
    return send(reply, 'text/html; charset=utf-8', html)
  })
  app.get<{ Params: { name: string } }>('/docs/:name', { onRequest: onAsset }, async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (!asset) throw new ApiError('not_found', { message: 'There is no such path.' })
    const isCurrent = request.url.endsWith(`?v=${asset.tag}`)
    reply.header('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
    return send(reply, asset.type, asset.bytes)
  })
}

function send(reply: FastifyReply, type: string, bytes: Buffer): FastifyReply {
  return reply.type(type).header('Referrer-Policy', 'no-referrer').send(bytes)
}
