/** A Redis that speaks only TLS: used when its certificate can be trusted, and never when it cannot. */
import t from 'tap'
import { certificate } from '../faults.js'
import { freePort, redisServer, withoutRedis } from '../redis.js'
import { instance } from './instance.js'
import { aKey, anOwner } from './places.js'

t.test('the certificate of a Redis behind TLS must be trusted', { skip: withoutRedis }, async (t) => {
  const { key, cert } = certificate(t.testdir({}))
  const port = await freePort()
  const options = `--tls-port ${port} --tls-cert-file ${cert} --tls-key-file ${key} --tls-auth-clients no`
  await redisServer(t, ...options.split(' '))
  const config = { redisUrl: `rediss://localhost:${port}`, dataDir: '' }
  const { record } = aKey(anOwner())
  const trusting = await instance(t, config, { NODE_EXTRA_CA_CERTS: cert })
  t.equal(await trusting.call({ create: record, max: 1 }), 'created')
  t.same(await trusting.call({ find: record }), record)
  const wary = await instance(t, config)
  t.match(await wary.call({ find: record }), /^StoreUnavailable/)
})
