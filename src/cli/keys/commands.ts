/** The commands for operators of API keys. */
import { accountIdOf, keyOwnerOf, Secret, toCredential } from '../../auth/credential.js'
import { isKeyId, type KeyRecord, type Store } from '../../store/store.js'
import { printable, table } from '../output.js'

/** The result of a command, for scripts and for people. Neither holds a whole key or a sealed hash. */
interface Outcome {
  json: object
  text: string
}

export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command is well-formed, but its subject does not exist. */
export class NotFound extends Error {
  override name = 'NotFound'
}

export interface Call {
  store: Store
  args: readonly string[]
  now: number
  isConfirmed: boolean
  input: () => Iterable<string> | AsyncIterable<string | Buffer>
}

interface Command {
  usage: string
  /** One sentence, and an example without the name of the program. */
  help: string
  example: string
  run: (call: Call) => Promise<Outcome>
}

export const commands: Record<string, Command> = {
  list: {
    usage: 'list [<account e-mail>|<fingerprint>]',
    help: 'Lists the active keys of an account, or all accounts with the fingerprints that the log uses.',
    example: 'list fleet@example.com',
    run: ({ store, args, now }) => (args.length === 0 ? listAccounts(store, now) : listKeys(store, args, now)),
  },
  find: {
    usage: 'find',
    help: 'Reads keys, for example leaked ones, from standard input and prints id, label and account of each active one.',
    example: 'find < leaked.txt',
    run: async ({ store, args, now, input }) => {
      exactly(0, args)
      const found = await byKeys(store, input(), now)
      if (found.length === 0) throw new NotFound('The input holds no active API key.')
      return { json: found.map(toJson), text: listing(found, [...columns, ...accountColumns]) }
    },
  },
  limit: {
    usage: 'limit <key-id>|<key> <requests per window>|default',
    help: 'Sets the request limit of one key.',
    example: 'limit 0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3 1000',
    run: async ({ store, args, now }) => {
      const [given = '', requests = ''] = exactly(2, args)
      const limit = limitIn(requests)
      const { id, digest } = await oneKey(store, given, now)
      const set = (record: KeyRecord): KeyRecord => ({ ...record, limit })
      if (!(await store.keys.update(digest, set, now))) throw unknownKey(given)
      const text = `${id} may send ${limit === null ? 'as many requests as any other key' : `${limit} requests`} per window.`
      return { json: { id, limit }, text }
    },
  },
  revoke: {
    usage: 'revoke <key-id>|<key>',
    help: 'Revokes one key at once, on every instance.',
    example: 'revoke 0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3',
    run: async ({ store, args, now }) => {
      const [given = ''] = exactly(1, args)
      const { id, digest, hint, email, owner } = await oneKey(store, given, now)
      if (!(await store.keys.revoke(owner, id, now, digest))) throw unknownKey(given)
      return { json: { id, revoked: true }, text: `${id} (${hint}, of ${printable(email)}) is revoked.` }
    },
  },
  purge: {
    usage: 'purge <account e-mail>|<fingerprint> --yes',
    help: 'Revokes all keys of an account.',
    example: 'purge fleet@example.com --yes',
    run: async ({ store, args, now, isConfirmed }) => {
      const [given = ''] = exactly(1, args)
      const owned = await keysOf(store, given, now)
      if (owned.length === 0) throw new NotFound(`There are no active API keys of ${given}.`)
      const email = owned[0]?.email || given
      if (!isConfirmed)
        throw new UsageError(`${plural(owned.length)} of ${email} would be revoked. Add --yes to do it.`)
      const results = await Promise.all(owned.map(({ id, owner }) => store.keys.revoke(owner, id, now)))
      const revoked = results.filter(Boolean).length
      return { json: { email, revoked }, text: `${plural(revoked)} of ${email} revoked.` }
    },
  },
}

const plural = (count: number): string => `${count} API key${count === 1 ? '' : 's'}`

async function listKeys(store: Store, args: readonly string[], now: number): Promise<Outcome> {
  const [email = ''] = exactly(1, args)
  const found = await keysOf(store, email, now)
  return { json: found.map(toJson), text: found.length === 0 ? 'The account has no active API keys.' : listing(found) }
}

async function* activeKeys({ keys, digests }: Store, now: number): AsyncGenerator<KeyRecord> {
  for (const digest of await digests()) {
    const record = await keys.find(digest, now)
    if (record) yield record
  }
}

async function listAccounts(store: Store, now: number): Promise<Outcome> {
  const counts = new Map<string, { account: string | null; email: string; keys: number }>()
  for await (const record of activeKeys(store, now)) {
    const counted = counts.get(record.owner) ?? { account: accountOf(record), email: record.email, keys: 0 }
    counts.set(record.owner, { ...counted, keys: counted.keys + 1 })
  }
  const json = [...counts.values()].sort((a, b) => (a.email < b.email ? -1 : 1))
  if (json.length === 0) return { json, text: 'There are no active API keys.' }
  const rows = json.map(({ account, email, keys }) => [account ?? '-', email, String(keys)])
  return { json, text: table([['ACCOUNT', 'E-MAIL', 'KEYS'], ...rows]) }
}

/** The records of the active keys in a text, such as lines of a log: it may be longer than a string can be. */
async function byKeys({ keys }: Store, input: ReturnType<Call['input']>, now: number): Promise<KeyRecord[]> {
  const read = new Set<string>()
  let text = ''
  for await (const chunk of input) {
    // A key may begin in the last 56 characters, one less than it has.
    text = text.slice(-56) + chunk
    for (const key of text.match(/gps_live_[0-9a-f]{48}/g) ?? []) read.add(key)
  }
  const found: KeyRecord[] = []
  for (const key of read) {
    const record = await keys.find(new Secret(key).digest, now)
    if (record) found.push(record)
  }
  return found
}

/** The active key with an id or a value. A text with several is refused: the others would seem to be revoked with the first. */
async function oneKey({ keys }: Store, given: string, now: number): Promise<KeyRecord> {
  const sent = toCredential(given, undefined)
  const id = given.toLowerCase()
  if (sent.kind !== 'key' && !isKeyId(id)) throw new UsageError('expected one id or one key; run it once for each')
  const record = await (sent.kind === 'key' ? keys.find(sent.secret.digest, now) : keys.findById(id, now))
  if (!record) throw unknownKey(given)
  return record
}

/** As in the log of the gateway; null without an e-mail, since the record does not show the hash that names the account. */
const accountOf = ({ email }: KeyRecord): string | null => (email === '' ? null : accountIdOf('platform', email))

function exactly(count: number, args: readonly string[]): readonly string[] {
  if (args.length !== count) throw new UsageError(`expected ${count} argument(s), got ${args.length}`)
  return args
}

/**
 * The active keys of an account by its e-mail, the name that some platforms have in its place, or its fingerprint in the log. An account
 * without an e-mail owns its keys by its fingerprint.
 */
async function keysOf(store: Store, given: string, now: number): Promise<KeyRecord[]> {
  if (given.trim() === '') throw new UsageError('expected the e-mail of an account')
  const owned = await store.keys.list(keyOwnerOf(given), now)
  if (owned.length > 0) return owned
  for await (const record of activeKeys(store, now))
    if (accountOf(record) === given) return await store.keys.list(record.owner, now)
  return []
}

const maxLimit = 1_000_000_000

function limitIn(given: string): number | null {
  if (given === 'default') return null
  const limit = /^\d{1,10}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > maxLimit) throw new UsageError(`a limit is a whole number from 1 to ${maxLimit}`)
  return limit
}

const unknownKey = (given: string): NotFound => new NotFound(`There is no active API key ${given}.`)

/** Times are epoch milliseconds, as in the API. */
function toJson(stored: KeyRecord): object {
  const { id, email, hint: key, label, limit, ...record } = stored
  const times = { created_at: record.createdAt, expires_at: record.expiresAt, last_used_at: record.lastUsedAt }
  return { id, account: accountOf(stored), email, key, label, ...times, limit }
}

const instant = (ms: number | null): string =>
  ms === null ? 'never' : new Date(ms).toISOString().replace('T', ' ').slice(0, 16)

type Column = [heading: string, cell: (record: KeyRecord) => string]

const columns: Column[] = [
  ['ID', ({ id }) => id],
  ['KEY', ({ hint }) => hint],
  ['CREATED (UTC)', ({ createdAt }) => instant(createdAt)],
  ['EXPIRES (UTC)', ({ expiresAt }) => instant(expiresAt)],
  ['LAST USED (UTC)', ({ lastUsedAt }) => instant(lastUsedAt)],
  ['LIMIT', ({ limit }) => String(limit ?? 'default')],
  ['LABEL', ({ label }) => label],
]

const accountColumns: Column[] = [
  ['ACCOUNT', (record) => accountOf(record) ?? '-'],
  ['E-MAIL', ({ email }) => email],
]

const listing = (records: readonly KeyRecord[], shown = columns): string =>
  table([shown.map(([heading]) => heading), ...records.map((record) => shown.map(([, cell]) => cell(record)))])
