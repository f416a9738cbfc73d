/** What an operator does to API keys: list, limit, revoke, purge. Knows a store but not which, and no terminal. */
import { ownerOf } from '../../auth/credential.js'
import type { KeyRecord, KeyStore } from '../../store/store.js'
import { table } from './table.js'

/** What a command found or did: for scripts, and for people. Neither holds a whole key or a sealed hash. */
export interface Outcome {
  json: object
  text: string
}

/** The command cannot be understood; `message` says how it is written. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command is right, but there is nothing it could be done to. */
export class NothingFound extends Error {
  override name = 'NothingFound'
}

type Command = (keys: KeyStore, args: readonly string[], now: number) => Promise<Outcome>

const largestLimit = 1_000_000_000

export const commands: Record<string, { usage: string; run: Command }> = {
  list: {
    usage: 'list <account e-mail>',
    run: async (keys, args, now) => {
      const [email] = exactly(1, args)
      const found = await keys.list(ownerOf(emailIn(email)), now)
      return { json: found.map(shown), text: found.length === 0 ? `${email} has no active API keys.` : listing(found) }
    },
  },
  limit: {
    usage: 'limit <key-id> <requests per window>|default',
    run: async (keys, args, now) => {
      const [id, given] = exactly(2, args)
      const limit = limitIn(given)
      if (!(await keys.setLimit(id, limit, now))) throw unknown(id)
      const text = `${id} may send ${limit === null ? 'as many requests as any other key' : `${limit} requests`} per window.`
      return { json: { id, limit }, text }
    },
  },
  revoke: {
    usage: 'revoke <key-id>',
    run: async (keys, args, now) => {
      const [id] = exactly(1, args)
      const record = await keys.findById(id, now)
      if (!record || !(await keys.revoke(record.owner, id, now))) throw unknown(id)
      return { json: { id, revoked: true }, text: `${id} (${record.hint}, of ${record.email}) is revoked.` }
    },
  },
  purge: {
    usage: 'purge <account e-mail>',
    run: async (keys, args, now) => {
      const [email] = exactly(1, args)
      const revoked = await keys.purge(ownerOf(emailIn(email)), now)
      return { json: { email, revoked }, text: `${revoked} API key${revoked === 1 ? '' : 's'} of ${email} revoked.` }
    },
  },
}

type Words<N extends number> = N extends 1 ? [string] : [string, string]

function exactly<N extends 1 | 2>(count: N, args: readonly string[]): Words<N> {
  if (args.length !== count) throw new UsageError(`${args.length} arguments where there should be ${count}`)
  return args as unknown as Words<N>
}

function emailIn(given: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(given.trim())) throw new UsageError('an account is named by its e-mail')
  return given
}

function limitIn(given: string): number | null {
  if (given === 'default') return null
  const limit = /^\d{1,10}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > largestLimit) throw new UsageError(`a limit is a whole number from 1 to ${largestLimit}`)
  return limit
}

const unknown = (id: string): NothingFound => new NothingFound(`There is no active API key ${JSON.stringify(id)}.`)

/** What may be seen of a record. Times are epoch milliseconds, as in the API. */
function shown({ id, email, hint, label, createdAt, expiresAt, lastUsedAt, limit }: KeyRecord): object {
  const times = { created_at: createdAt, expires_at: expiresAt, last_used_at: lastUsedAt }
  return { id, email, key: hint, label, ...times, limit }
}

const instant = (ms: number | null): string =>
  ms === null ? 'never' : new Date(ms).toISOString().replace('T', ' ').slice(0, 16)

function listing(records: readonly KeyRecord[]): string {
  const rows = records.map(({ id, hint, label, createdAt, expiresAt, lastUsedAt, limit }) => [
    id,
    hint,
    ...[createdAt, expiresAt, lastUsedAt].map(instant),
    limit === null ? 'default' : String(limit),
    label,
  ])
  return table(['ID', 'KEY', 'CREATED (UTC)', 'EXPIRES (UTC)', 'LAST USED (UTC)', 'LIMIT', 'LABEL'], rows)
}
