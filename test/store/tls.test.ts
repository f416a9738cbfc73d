/** A Redis that speaks only TLS: used when its certificate can be trusted, and never when it cannot. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { portOf, redisServer, withoutRedis } from '../redis.js'
import { instance } from './instance.js'
import { aKey, anOwner } from './places.js'

t.test('the certificate of a Redis behind TLS must be trusted', { skip: withoutRedis }, async (t) => {
  const dir = t.testdir({})
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout ${key} -out ${cert}`
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
  execFileSync('openssl', [...make.split(' '), ...names], { stdio: 'ignore' })
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const port = portOf(probe)
  probe.close()
  await redisServer(
    t,
    ...`--tls-port ${port} --tls-cert-file ${cert} --tls-key-file ${key} --tls-auth-clients no`.split(' '),
  )
  const config = { redisUrl: `rediss://localhost:${port}`, dataDir: '' }
  const { record } = aKey(anOwner())
  const trusting = await instance(t, config, { NODE_EXTRA_CA_CERTS: cert })
  t.equal(await trusting.call({ create: record, max: 1 }), 'created')
  t.same(await trusting.call({ find: record }), record)
  const wary = await instance(t, config)
  t.match(await wary.call({ find: record }), /^StoreUnavailable/)
})
