/** What the environment means, and that everything wrong with it is told at once. */
import t from 'tap'
import { Type } from 'typebox'
import { ConfigError, Environment, readConfig } from '../src/config.js'

// That the defaults are those of the README is proved there.
t.test('an empty environment is the sandbox on one machine', async (t) => {
  t.match(readConfig({}), {
    opsPort: 9091,
    platformUrl: undefined,
    redisUrl: undefined,
    demoToken: 'demo',
    rateLimitWindowMs: 60_000,
    cacheMaxBytes: 256 * 1024 * 1024,
    trustProxy: false,
    publicUrl: 'http://localhost:3000/api',
  })
  t.same(readConfig({ PLATFORM_URL: '', PORT: '' }), { ...readConfig({}) }, 'an empty value is an unset one')
  t.equal(readConfig({ PLATFORM_URL: 'https://tracker.example.com/api' }).demoToken, undefined)
})

t.test('a value in quotation marks is refused', async (t) => {
  for (const [name, value] of Object.entries({ DATA_DIR: '"/var/keys"', DEMO_TOKEN: "'demo'", PORT: '"3000"' }))
    t.throws(
      () => readConfig({ [name]: value }),
      { message: new RegExp(`${name} must not be in quotation marks`) },
      name,
    )
})

t.test('every problem stands in one message, and no value of a variable does', async (t) => {
  const env = {
    HOST: '[::1]',
    OPS_HOST: '127.0.0.1:9091',
    PORT: 'eighty',
    OPS_PORT: '70000',
    PLATFORM_URL: 'ftp://user:secret-word@example.com',
    REDIS_URL: 'redis://:secret-word@a:6379,http://b',
    RATE_LIMIT_MAX: '0',
    TRUST_PROXY: '10.0.0.0/99',
    PUBLIC_URL: 'nonsense',
    LOG_LEVEL: 'loud',
    DEMO_TOKEN: 'two words secret-word',
  }
  const error = t.throws(() => readConfig(env)) as unknown as ConfigError
  t.type(error, ConfigError)
  for (const name of Object.keys(env)) t.match(error.message, new RegExp(`\\b${name}\\b`), name)
  t.match(error.message, /LOG_LEVEL must be .*: trace, debug, info, warn, error, fatal, silent$/m)
  t.notMatch(error.message, 'secret-word')
})

t.test('a host is an address, with its zone, or a name', async (t) => {
  for (const HOST of ['::1', 'fe80::1%eth0', '0.0.0.0', 'localhost', 'gateway.internal'])
    t.equal(readConfig({ HOST, OPS_HOST: HOST }).host, HOST)
  for (const HOST of ['http://localhost', 'localhost:3000', '[::1]'])
    t.throws(() => readConfig({ HOST }), /HOST must be an address or a name/, HOST)
})

t.test('both listeners on one port of one address are refused', async (t) => {
  const one = { PORT: '3000', OPS_PORT: '3000' }
  for (const env of [one, { ...one, HOST: '127.0.0.1', OPS_PORT: '03000' }, { ...one, HOST: '::1', OPS_HOST: '::' }])
    t.throws(() => readConfig(env), /OPS_PORT must differ from PORT/)
  for (const env of [
    { PORT: '0', OPS_PORT: '0' },
    { ...one, HOST: '192.0.2.1' },
    { ...one, OPS_PORT: 'off' },
  ])
    t.ok(readConfig(env))
})

t.test('no number is infinite', async (t) => {
  for (const [name, schema] of Object.entries(Environment.properties))
    for (const value of Type.IsInteger(schema) ? ['Infinity', '-Infinity', '1e999'] : [])
      t.throws(() => readConfig({ [name]: value }), new RegExp(`${name} must be integer`), `${name}=${value}`)
})

t.test('a URL holds nothing that would be printed, ignored, or end the process later', async (t) => {
  const withPassword = 'https://u:secret-word@a.example/api'
  const withoutHost = ['https:///api', 'https:a/api', 'https:/\\a/api']
  const wrong: Record<string, string[]> = {
    PUBLIC_URL: [withPassword, 'https://secret-word@a.example', 'https://a/api?x=1', 'https://a/#x'],
    PLATFORM_URL: [withPassword, 'https://a/api?lang=en', 'https://a/api#x', ...withoutHost],
    REDIS_URL: ['redis://:%zz-secret-word@a', 'redis://a/first', 'redis://a/-1', 'redis://a,redis://a/1/2'],
  }
  const queries = ['lazyConnect=true', 'db=4', 'keyPrefix=x', 'family=6&db=4', 'family=x', 'x=secret-word']
  wrong.REDIS_URL?.push(...queries.map((query) => `redis://a,redis://b/?${query}`))
  for (const [name, values] of Object.entries(wrong))
    for (const value of values) {
      const { message } = t.throws(() => readConfig({ [name]: value }), value) as unknown as ConfigError
      t.match(message, name)
      t.notMatch(message, 'secret-word')
    }
  for (const REDIS_URL of ['redis://u:a%2Fb@a:6379/0', 'rediss://a/', 'redis://a/1?family=6', 'redis://a/0,redis://b'])
    t.equal(readConfig({ REDIS_URL }).redisUrl, REDIS_URL)
  t.throws(() => readConfig({ TRUST_PROXY: '::/0' }), /TRUST_PROXY must be .*, none of them \/0/)
  const query = { REDIS_URL: 'redis://a?db=4' }
  t.throws(() => readConfig(query), /REDIS_URL must have no query, except family=0, family=4 or family=6/)
  for (const password of ['p#x', 'p/x', 'p?x', '12#x', 'p,x'])
    t.throws(() => readConfig({ REDIS_URL: `redis://gw:${password}@a` }), /password percent-encoded/, password)
  const cluster = { REDIS_URL: 'redis://a, redis://b/1' }
  t.throws(() => readConfig(cluster), /REDIS_URL must not have the number of a database: a cluster has only 0/)
})

t.test('white space around a value is none of it, as in a file that ends with a line feed', async (t) => {
  t.equal(readConfig({ PUBLIC_URL: ' https://a.example/api\n' }).publicUrl, 'https://a.example/api')
  t.equal(readConfig({ DEMO_TOKEN: 'k7Qz\n', HOST: '::1 ' }).demoToken, 'k7Qz')
  t.same(readConfig({ PLATFORM_URL: ' ' }), readConfig({}))
})

t.test('a demo token leaves the quotes of every example in the reference closed', async (t) => {
  for (const DEMO_TOKEN of ["it's", 'back\\'])
    t.throws(() => readConfig({ DEMO_TOKEN }), /DEMO_TOKEN must be .*, without spaces, single quotes and backslashes/)
  t.equal(readConfig({ DEMO_TOKEN: '"$(k7Qz)`' }).demoToken, '"$(k7Qz)`')
})

t.test('a link to the reference opens however the public address is written', async (t) => {
  for (const end of ['', '/', '?', '#', '/?#'])
    t.equal(readConfig({ PUBLIC_URL: `HTTPS://a.example/fleet api${end}` }).publicUrl, 'https://a.example/fleet%20api')
})

t.test('proxies are trusted by hop count or by address, and never all of them', async (t) => {
  const hops = readConfig({ TRUST_PROXY: '2' }).trustProxy as (address: string, hop: number) => boolean
  const trusted = [0, 1, 2, 3].filter((hop) => hops('198.51.100.1', hop))
  t.same(trusted, [0, 1])
  t.same(readConfig({ TRUST_PROXY: '10.0.0.0/8, ::1' }).trustProxy, ['10.0.0.0/8', '::1'])
  t.equal(readConfig({ TRUST_PROXY: '0' }).trustProxy, false)
  const single = ['192.0.2.1/32', '2001:db8::1/128']
  t.same(readConfig({ TRUST_PROXY: single.join() }).trustProxy, single)
  const ranges = ['10.0.0.0/8/9', '192.0.2.1/33', '0.0.0.0/0', '2001:db8::1/129', '192.0.2.1/']
  for (const wrong of ['true', 'all', '*', '-1', ...ranges]) t.throws(() => readConfig({ TRUST_PROXY: wrong }), wrong)
})

t.test('time stands still at GATEWAY_CLOCK, and goes on without it', async (t) => {
  const { clock } = readConfig({ GATEWAY_CLOCK: '2026-03-14T10:30:00+01:00' })
  t.same([clock(), clock()], [Date.UTC(2026, 2, 14, 9, 30), Date.UTC(2026, 2, 14, 9, 30)])
  t.equal(readConfig({}).clock, Date.now)
  t.equal(readConfig({ GATEWAY_CLOCK: '2026-03-14' }).clock(), Date.UTC(2026, 2, 14))
  for (const wrong of ['noon', '5', 'March 7', '2026-03-14T10:30:00', '2026-13-01', '2026-02-30', '1969-12-31'])
    t.throws(() => readConfig({ GATEWAY_CLOCK: wrong }), /GATEWAY_CLOCK must be an ISO 8601 instant since 1970/, wrong)
})
