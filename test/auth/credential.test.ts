/** Credentials: their kinds, their fingerprints, and sealing. */
import { inspect } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import {
  fingerprint,
  hashPrintOf,
  keyOwnerOf,
  newKey,
  parseCredential,
  Secret,
  toCredential,
} from '../../src/auth/credential.js'
import { publicKeyOf, seal, sealFor, unseal } from '../../src/auth/seal.js'
import { anyCharacter } from '../character.js'

const DEMO = 'look-around'
const hex48 = '0123456789abcdef'.repeat(3)

const kindOf = (header: string | undefined): string => parseCredential(header, DEMO).kind

t.test('a header is parsed by the rules of HTTP, whatever the case of its scheme and its spaces', async (t) => {
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR'])
    for (const gap of [' ', '   ']) t.equal(kindOf(`${scheme}${gap}abc123`), 'hash')
  const none = ['', 'Bearer', 'Bearer ', 'Bearer    ', 'abc123', 'Basic YTpi', 'Bearerabc', 'Bearer:abc']
  for (const header of [undefined, ...none]) t.equal(kindOf(header), 'none', `${header}`)
  const read = parseCredential('Bearer  abc123 ', DEMO)
  t.equal('secret' in read && read.secret.reveal(), 'abc123')
})

t.test('the kind of a credential follows from its form alone', async (t) => {
  const kinds: Record<string, string[]> = {
    key: [`gps_live_${hex48}`],
    demo: [DEMO],
    hash: [`${DEMO}2`, 'x'.repeat(512)],
    malformed: [
      ...['', 'abc', hex48.slice(1), `${hex48}0`, hex48.toUpperCase(), `${hex48.slice(1)}g`].map(
        (key) => `gps_live_${key}`,
      ),
      ...['a b', 'a\tb', 'caf\u00e9', 'a\u0000b', 'a\nb', '\u007f', 'x'.repeat(513)],
    ],
  }
  for (const [kind, texts] of Object.entries(kinds)) {
    for (const text of texts) t.equal(kindOf(`Bearer ${text}`), kind, JSON.stringify(text))
  }
  t.equal(parseCredential(`Bearer ${DEMO}`, undefined).kind, 'hash')
  t.equal(toCredential(`gps_live_${hex48}`, DEMO).kind, 'key')
  for (const demo of [DEMO, '']) t.equal(toCredential('', demo).kind, 'none')
})

t.test('a secret cannot be printed by accident', async (t) => {
  const secret = new Secret('dont-show-me')
  const inspected = [inspect(secret), inspect({ a: [secret] }, { showHidden: true })]
  for (const text of [`${secret}`, String(secret), JSON.stringify({ secret }), ...inspected])
    t.notMatch(text, 'dont-show-me')
  t.same(Object.keys(secret), [])
  t.equal(secret.reveal(), 'dont-show-me')
})

t.test('new keys are unique', async (t) => {
  const made = Array.from({ length: 1000 }, newKey)
  t.equal(new Set(made.map(({ key }) => key.reveal())).size, 1000)
})

t.test('a fingerprint has 22 characters, and is the same only for the same text and domain', async (t) => {
  t.match(fingerprint('hash', 'abc'), /^[\w-]{22}$/)
  t.equal(fingerprint('hash', 'abc'), fingerprint('hash', 'abc'))
  t.not(fingerprint('hash', 'abc'), fingerprint('key', 'abc'))
  t.not(fingerprint('hash', 'abc'), fingerprint('hash', 'abd'))
  t.not(hashPrintOf(new Secret('abc'), 'one-id'), hashPrintOf(new Secret('abc'), 'another-id'))
})

const seals = { v1: seal, v2: (hash: Secret, key: Secret): string => sealFor(hash, publicKeyOf(key)) ?? '' }

for (const [version, sealed] of Object.entries(seals)) {
  t.test(`only the key itself opens its seal (${version})`, async (t) => {
    const { key } = newKey()
    const hash = new Secret('$2y$10$invented-platform-hash')
    const text = sealed(hash, key)
    t.ok(text.startsWith(`${version}.`))
    t.equal(unseal(text, key)?.reveal(), hash.reveal())
    for (const other of [newKey().key, new Secret(publicKeyOf(key)), new Secret(key.digest)]) {
      t.equal(unseal(text, other), undefined)
    }
    t.not(sealed(hash, key), text, 'sealing twice gives unrelated texts')
    t.notMatch(text, 'invented')
  })

  t.test(`a sealed text is returned as it was, and not at all once any byte is altered (${version})`, async () => {
    const { key } = newKey()
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: anyCharacter }),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        (text, at, flip) => {
          const whole = sealed(new Secret(text), key)
          if (unseal(whole, key)?.reveal() !== text) return false
          const bytes = Buffer.from(whole.slice(3), 'base64url')
          bytes[at % bytes.length]! ^= flip
          return unseal(`${version}.${bytes.toString('base64url')}`, key) === undefined
        },
      ),
    )
  })
}

t.test('keys that earlier versions have stored still open, and belong to the same owner', async (t) => {
  const key = new Secret(`gps_live_${'0'.repeat(48)}`)
  for (const sealed of [
    'v1.p_lvVOBCNYKZBO9fddh5qRqs0PTqnJJTyAroE83nUSF73qW3ZcxXOEsPyCmX-hh_iVc',
    'v2.5pWXi39GRePcico2GteqP8vc_5EsXNgI8YxD1q1krD_YHloWBuAGJVwkY1wYt2BXGsAo049y',
  ])
    t.equal(unseal(sealed, key)?.reveal(), 'a-hash', sealed)
  t.equal(publicKeyOf(key), 'ePCkoI4XEEKrh02cpp2ZPaE-dCIe__fw893adfBVMjw')
  t.equal(key.digest, 'd46d1631cd8c22a78f18a90c1afa30cbd1a9c35b9dfa259149d4d7816eb17b9d')
  t.equal(keyOwnerOf('Jo@example.org'), 'ci3MwqU4DU2Ij4ijG_gQ3Q')
})

t.test('a text that is no seal opens nothing, and one that is no public key seals nothing', async (t) => {
  const { key } = newKey()
  const nonsense = ['v1', 'v1.', 'v1.AAAA', 'v2', 'v2.', 'v2.AAAA', `v1.${'A'.repeat(100)}`, `v2.${'A'.repeat(100)}`]
  for (const text of ['', ...nonsense, '.', 'x'.repeat(1000)]) t.equal(unseal(text, key), undefined, text)
  const sealed = seal(new Secret('a-hash'), key)
  for (const publicKey of ['', 'A'.repeat(43), 'x'.repeat(100)])
    t.equal(sealFor(new Secret('a-hash'), publicKey), undefined, publicKey)
  for (const version of ['v2', 'v3']) t.equal(unseal(sealed.replace('v1', version), key), undefined, version)
  t.equal(unseal(seals.v2(new Secret('a-hash'), key).replace('v2', 'v3'), key), undefined)
})

t.test('e-mails are one owner only where they differ in nothing but case and spaces around them', async (t) => {
  t.equal(keyOwnerOf(' Owner@Example.COM '), keyOwnerOf('owner@example.com'))
  t.equal(keyOwnerOf('J.MÜLLER@ÖBB.at'), keyOwnerOf('j.müller@öbb.at'), 'as in the first release')
  const others = ['kim@a.com', '\u212aim@a.com', 'kim@a.com\u00a0', 'k\u0130m@a.com', 'ki\u0307m@a.com', 'tim@a.com']
  others.push('\u212b@a.com', 'å@a.com', '\u2126@a.com', 'ω@a.com', '\u1e9e@a.com', 'ß@a.com')
  t.equal(new Set(others.map(keyOwnerOf)).size, others.length)
})
