/** A Redis that speaks TLS only: used when its certificate can be trusted, and never when it cannot. */
import { execFileSync } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gatewayProcess } from '../process.js'
import { redisServer, withoutRedis } from '../redis.js'

const freePort = (): Promise<number> =>
  new Promise((found) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => found(port))
    })
  })

t.test('API keys live in a Redis behind TLS, whose certificate must be trusted', { skip: withoutRedis }, async (t) => {
  const dir = t.testdir({})
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      key,
      '-out',
      cert,
      ...names,
    ],
    { stdio: 'ignore' },
  )
  const tlsPort = await freePort()
  await redisServer(
    t,
    '--tls-port',
    String(tlsPort),
    '--tls-cert-file',
    cert,
    '--tls-key-file',
    key,
    '--tls-auth-clients',
    'no',
  )
  const REDIS_URL = `rediss://localhost:${tlsPort}`
  const [account] = sandboxAccounts()
  const body = JSON.stringify({ platform_hash: account?.hash })
  const made = async (env: Record<string, string>) => {
    const { url } = await gatewayProcess(t, { REDIS_URL, ...env })
    const answer = await fetch(`${url}/v1/keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    return { url, status: answer.status, body: (await answer.json()) as { key?: string; error?: string } }
  }
  const trusted = await made({ NODE_EXTRA_CA_CERTS: cert })
  t.equal(trusted.status, 200)
  const headers = { authorization: `Bearer ${trusted.body.key}` }
  t.equal((await fetch(`${trusted.url}/v1/devices`, { headers })).status, 200)
  const untrusted = await made({})
  t.match(untrusted, { status: 503, body: { error: 'gateway_error' } })
})
