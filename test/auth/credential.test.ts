/** What a credential is taken for, what stands for it where it must not show, and that only the key opens what was sealed under it. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  digestOf,
  fingerprint,
  newKey,
  ownerOf,
  parseCredential,
  Secret,
  seal,
  toCredential,
  unseal,
} from '../../src/auth/credential.js'

const DEMO = 'look-around'
const hex48 = '0123456789abcdef'.repeat(3)

function kindOf(header: string | undefined): string {
  return parseCredential(header, DEMO).kind
}

t.test('a header is read by the rules of HTTP, whatever the case of the scheme and the number of spaces', async (t) => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    for (const gap of [' ', '   ']) {
      t.match(parseCredential(`${scheme}${gap}abc123`, DEMO), { kind: 'hash' })
    }
  }
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    'Bearer    ',
    'abc123',
    'Basic YTpi',
    'Bearerabc',
    'Bearer:abc',
  ]) {
    t.equal(kindOf(header), 'none', `${header}`)
  }
  const read = parseCredential('Bearer  abc123 ', DEMO)
  t.equal('secret' in read && read.secret.reveal(), 'abc123')
})

t.test('the longest header takes no time that a caller could use against others', async (t) => {
  const started = performance.now()
  for (let n = 0; n < 200; n += 1) t.equal(kindOf(`Bearer x${' '.repeat(15_700)}y`), 'malformed')
  const ms = performance.now() - started
  t.ok(ms < 2_000, `${Math.round(ms)} ms for 200 headers`)
  t.equal(kindOf(`Bearer ${' '.repeat(15_700)}`), 'none')
  t.match(parseCredential(`Bearer${' '.repeat(15_700)}abc${' '.repeat(300)}`, DEMO), { kind: 'hash' })
})

t.test('the kind of a credential shows in its form alone', async (t) => {
  t.equal(kindOf(`Bearer gps_live_${hex48}`), 'key')
  t.equal(kindOf(`Bearer ${DEMO}`), 'demo')
  t.equal(kindOf(`Bearer ${DEMO}2`), 'hash')
  t.equal(parseCredential(`Bearer ${DEMO}`, undefined).kind, 'hash')
  t.equal(toCredential(`gps_live_${hex48}`, DEMO).kind, 'key')
  t.equal(toCredential('', DEMO).kind, 'none')
  t.equal(toCredential('', '').kind, 'none')
})

t.test('what cannot be a credential is refused without asking anybody', async (t) => {
  const keys = ['', 'abc', hex48.slice(1), `${hex48}0`, hex48.toUpperCase(), `${hex48.slice(1)}g`]
  for (const key of keys) t.equal(kindOf(`Bearer gps_live_${key}`), 'malformed', key)
  for (const text of ['a b', 'a\tb', 'caf\u00e9', 'a\u0000b', 'a\nb', '\u007f', 'x'.repeat(513)]) {
    t.equal(kindOf(`Bearer ${text}`), 'malformed', JSON.stringify(text))
  }
  t.equal(kindOf(`Bearer ${'x'.repeat(512)}`), 'hash')
})

t.test('any text whatever has a kind, and only visible ASCII is ever taken for a credential', async (t) => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string().map((rest) => `Bearer ${rest}`),
  )
  fc.assert(
    fc.property(text, (header) => {
      const credential = parseCredential(header, DEMO)
      if ('secret' in credential) t.match(credential.secret.reveal(), /^[!-~]{1,512}$/)
    }),
  )
  t.pass('no header made it throw')
})

t.test('a secret cannot be printed by accident', async (t) => {
  const secret = new Secret('dont-show-me')
  const shown = [
    `${secret}`,
    String(secret),
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ a: [secret] }, { showHidden: true }),
  ]
  for (const text of shown) {
    t.notMatch(text, 'dont-show-me')
    t.match(text, '[secret]')
  }
  t.same(Object.keys(secret), [])
  t.equal(secret.reveal(), 'dont-show-me')
})

t.test('a new key has the documented form, is never made twice, and is found by its digest', async (t) => {
  const made = Array.from({ length: 1000 }, newKey)
  t.equal(new Set(made.map(({ key }) => key.reveal())).size, 1000)
  for (const { key, digest, hint } of made.slice(0, 20)) {
    const text = key.reveal()
    t.match(text, /^gps_live_[0-9a-f]{48}$/)
    t.equal(kindOf(`Bearer ${text}`), 'key')
    t.equal(digest, digestOf(new Secret(text)))
    t.match(digest, /^[0-9a-f]{64}$/)
    t.equal(hint, `${text.slice(0, 13)}…${text.slice(-4)}`)
  }
})

t.test('an owner stays the same however the e-mail is written, and another e-mail is another owner', async (t) => {
  t.equal(ownerOf(' Fleet.One@Example.COM '), ownerOf('fleet.one@example.com'))
  t.not(ownerOf('fleet.one@example.com'), ownerOf('fleet.two@example.com'))
  t.match(fingerprint('hash', 'abc'), /^[\w-]{22}$/)
  t.equal(fingerprint('hash', 'abc'), fingerprint('hash', 'abc'))
  t.not(fingerprint('hash', 'abc'), fingerprint('key', 'abc'))
})

t.test('only the key itself opens what was sealed under it', async (t) => {
  const { key } = newKey()
  const hash = new Secret('$2y$10$invented-platform-hash')
  const sealed = seal(hash, key)
  t.equal(unseal(sealed, key)?.reveal(), hash.reveal())
  t.equal(unseal(sealed, newKey().key), undefined)
  t.not(seal(hash, key), sealed, 'sealing twice gives unrelated texts')
  t.notMatch(sealed, 'invented')
})

t.test('whatever is sealed comes back, and altered in any place it does not', async (t) => {
  const { key } = newKey()
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'binary' }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (text, at, flip) => {
        const sealed = seal(new Secret(text), key)
        if (unseal(sealed, key)?.reveal() !== text) return false
        const bytes = Buffer.from(sealed.slice(3), 'base64url')
        bytes[at % bytes.length]! ^= flip
        return unseal(`v1.${bytes.toString('base64url')}`, key) === undefined
      },
    ),
  )
  for (const text of ['', 'v1', 'v1.', 'v1.AAAA', 'v2.AAAA', `v1.${'A'.repeat(100)}`, '.', 'x'.repeat(1000)]) {
    t.equal(unseal(text, key), undefined, text)
  }
  t.equal(unseal(seal(new Secret('a-hash'), key).replace('v1', 'v2'), key), undefined, 'a version we do not know')
})
