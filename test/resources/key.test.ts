/** API keys in listings, and the labels of new keys. */
import fastify from 'fastify'
import t from 'tap'
import { CreateKey, toKey } from '../../src/resources/key.js'

t.test('a listed key has its hint in place of the key, and nothing else of the record', async (t) => {
  const same = { id: '0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3', label: 'Board' }
  const hint = 'gps_live_5d0b…1b92'
  const record = { ...same, hint, createdAt: 1, expiresAt: 2, lastUsedAt: null, digest: 'x', sealed: 'y' }
  const times = { created_at: 1, expires_at: 2, last_used_at: null }
  t.strictSame(toKey(record, true), { object: 'api_key', ...same, key: hint, ...times, status: 'active', usable: true })
})

t.test('a label has up to 100 characters of any script, without control characters', async (t) => {
  const app = fastify({ ajv: { customOptions: { coerceTypes: false } } })
  t.teardown(() => app.close())
  app.post('/', { schema: { body: CreateKey } }, async (request) => request.body)
  const status = async (body: object) =>
    (await app.inject({ method: 'POST', url: '/', payload: { platform_hash: 'h', ...body } })).statusCode
  const scripts = [
    '',
    'Диспетчер',
    '配車板',
    'لوحة',
    "L'été – №5",
    '😀',
    '👩\u200d🚒',
    'x'.repeat(100),
    '😀'.repeat(100),
  ]
  for (const label of scripts) t.equal(await status({ label }), 200, encodeURI(label).slice(0, 40))
  for (const label of ['a\u0000', 'a\nb', 'a\u007f', 'a\u0085', 'a\u2028b', 'x'.repeat(101), 5, null])
    t.equal(await status({ label }), 400, encodeURI(String(label)).slice(0, 40))
  for (const expires_in_days of [1, 3650]) t.equal(await status({ expires_in_days }), 200)
  for (const expires_in_days of [0, 3651, 1.5, '5', null])
    t.equal(await status({ expires_in_days }), 400, String(expires_in_days))
  for (const platform_hash of ['', undefined]) t.equal(await status({ platform_hash }), 400)
})
