/** Prism, which validates every request and response against the document, in front of a gateway on the sandbox. */
import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import t, { type Test } from 'tap'
import type { Response as Documented } from '../../src/reference/openapi.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { committed, documentPath } from './committed.js'

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as { port: number }
  await new Promise((done) => server.close(done))
  return port
}

/** `prism proxy --errors`: a violation of the document becomes an error response. @returns its URL. */
async function prism(t: Test, upstream: string): Promise<string> {
  const port = await freePort()
  const words = ['proxy', documentPath, upstream, '--errors', `--port=${port}`]
  const child = spawn(process.execPath, ['node_modules/.bin/prism', ...words])
  t.teardown(() => child.kill())
  let output = ''
  await new Promise<void>((listening, failed) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.includes('is listening')) listening()
    })
    child.once('close', () => failed(new Error(`prism ended: ${output}`)))
  })
  return `http://127.0.0.1:${port}`
}

t.test('every operation passes a validating proxy with its own example, and has the documented headers', async (t) => {
  const { url } = await gateway(t)
  const proxy = await prism(t, url)
  const hash = sandboxAccounts()[0]?.hash as string
  const headers = (credential: string) => ({ authorization: `Bearer ${credential}` })
  const json = { 'content-type': 'application/json' }
  const create = { method: 'POST', headers: json, body: JSON.stringify({ platform_hash: hash }) }
  const { id } = (await (await fetch(`${proxy}/v1/keys`, create)).json()) as { id: string }
  const { paths } = await committed()
  const rare = ['X-Api-Key-Expires', 'Cache-Status']
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, { parameters = [], requestBody, security = [], responses }] of Object.entries(item)) {
      const example = (name: string): string => String(parameters.find((one) => one.name === name)?.example)
      const query = parameters.filter(({ in: place, required }) => place === 'query' && required)
      const filled = path.replace(/\{(\w+)\}/, (_, name: string) => (path.includes('/keys/') ? id : example(name)))
      const search = query.map(({ name }) => `${name}=${example(name)}`).join('&')
      const takesAny = security.some((one) => 'demoToken' in one)
      const response = await fetch(`${proxy}${filled}?${search}`, {
        method: method.toUpperCase(),
        headers: { ...headers(takesAny ? 'demo' : hash), ...(requestBody ? json : {}) },
        ...(requestBody ? { body: create.body } : {}),
      })
      const text = await response.text()
      t.equal(response.status, 200, `${method} ${path}: ${response.ok ? '' : text}`)
      t.notOk(response.headers.get('sl-violations'), `${method} ${path} violates nothing`)
      const { headers: documented = {} } = responses['200'] as Documented
      for (const header of Object.keys(documented).filter((name) => !rare.includes(name)))
        t.ok(response.headers.has(header), `${method} ${path} carries ${header}`)
    }
  }
  const wrong = await fetch(`${proxy}/v1/devices?status=parked`, { headers: headers('demo') })
  t.equal(wrong.status, 422, 'the proxy does validate')
})
