/** The commands for operators of API keys: list, limit, revoke, purge. */
import { ownerOf } from '../../auth/credential.js'
import type { KeyRecord, KeyStore } from '../../store/store.js'
import { table } from '../table.js'

/** The result of a command, for scripts and for people. Neither holds a whole key or a sealed hash. */
export interface Outcome {
  json: object
  text: string
}

/** The command is malformed. */
export class UsageError extends Error {
  override name = 'UsageError'
}

/** The command is well-formed, but its subject does not exist. */
export class NotFound extends Error {
  override name = 'NotFound'
}

interface Command {
  usage: string
  run: (keys: KeyStore, args: readonly string[], now: number) => Promise<Outcome>
}

export const commands: Record<string, Command> = {
  list: {
    usage: 'list <account e-mail>',
    run: async (keys, args, now) => {
      const [email] = exactly(1, args)
      const found = await keys.list(ownerIn(email), now)
      return { json: found.map(toJson), text: found.length === 0 ? `${email} has no active API keys.` : listing(found) }
    },
  },
  limit: {
    usage: 'limit <key-id> <requests per window>|default',
    run: async (keys, args, now) => {
      const [id, given] = exactly(2, args)
      const limit = limitIn(given)
      if (!(await keys.setLimit(id, limit, now))) throw unknownKey(id)
      const text = `${id} may send ${limit === null ? 'as many requests as any other key' : `${limit} requests`} per window.`
      return { json: { id, limit }, text }
    },
  },
  revoke: {
    usage: 'revoke <key-id>',
    run: async (keys, args, now) => {
      const [id] = exactly(1, args)
      const record = await keys.findById(id, now)
      if (!record || !(await keys.revoke(record.owner, id, now))) throw unknownKey(id)
      return { json: { id, revoked: true }, text: `${id} (${record.hint}, of ${record.email}) is revoked.` }
    },
  },
  purge: {
    usage: 'purge <account e-mail>',
    run: async (keys, args, now) => {
      const [email] = exactly(1, args)
      const owned = await keys.list(ownerIn(email), now)
      const results = await Promise.all(owned.map(({ id, owner }) => keys.revoke(owner, id, now)))
      const revoked = results.filter(Boolean).length
      return { json: { email, revoked }, text: `${revoked} API key${revoked === 1 ? '' : 's'} of ${email} revoked.` }
    },
  },
}

function exactly(count: 1, args: readonly string[]): [string]
function exactly(count: 2, args: readonly string[]): [string, string]
function exactly(count: number, args: readonly string[]): readonly string[] {
  if (args.length !== count) throw new UsageError(`expected ${count} argument(s), got ${args.length}`)
  return args
}

function ownerIn(email: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(email.trim())) throw new UsageError(`not an e-mail: ${JSON.stringify(email)}`)
  return ownerOf(email)
}

const maxLimit = 1_000_000_000

function limitIn(given: string): number | null {
  if (given === 'default') return null
  const limit = /^\d{1,10}$/.test(given) ? Number(given) : 0
  if (limit < 1 || limit > maxLimit) throw new UsageError(`a limit is a whole number from 1 to ${maxLimit}`)
  return limit
}

const unknownKey = (id: string): NotFound => new NotFound(`There is no active API key ${JSON.stringify(id)}.`)

/** Times are epoch milliseconds, as in the API. */
function toJson({ id, email, hint: key, label, limit, ...record }: KeyRecord): object {
  const times = { created_at: record.createdAt, expires_at: record.expiresAt, last_used_at: record.lastUsedAt }
  return { id, email, key, label, ...times, limit }
}

const instant = (ms: number | null): string =>
  ms === null ? 'never' : new Date(ms).toISOString().replace('T', ' ').slice(0, 16)

function listing(records: readonly KeyRecord[]): string {
  const toRow = ({ id, hint, label, createdAt, expiresAt, lastUsedAt, limit }: KeyRecord): string[] => {
    const times = [createdAt, expiresAt, lastUsedAt].map(instant)
    return [id, hint, ...times, String(limit ?? 'default'), label]
  }
  const headings = ['ID', 'KEY', 'CREATED (UTC)', 'EXPIRES (UTC)', 'LAST USED (UTC)', 'LIMIT', 'LABEL']
  return table([headings, ...records.map(toRow)])
}
