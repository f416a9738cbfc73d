/** Tries each command of the gateway on Redis, to find those that it refuses. Leaves nothing behind. */
import { randomUUID } from 'node:crypto'
import { denial } from './redis-connection.js'

/** `$` is the key, `@` an instant in five seconds. */
const strings = 'SET $ 1 PXAT @, GET $, INCR $, SETRANGE $ 0 1, PTTL $, PEXPIRE $ 5000, DEL $'
const hashes = 'HSET $ field check, PEXPIREAT $ @, HGET $ field, HMGET $ field, HGETALL $, PTTL $, HDEL $ field, DEL $'
/** The script of the digest does not exist. `SCAN` is for the list of all keys on the command line. */
const others = `EVAL return(redis.call('TIME')) 1 $, EVALSHA ${'0'.repeat(40)} 1 $, SCAN 0 MATCH $`
const commands = Object.entries({ count: strings, id: strings, key: hashes, owner: hashes })

const reasons: [message: RegExp, reason: string][] = [
  [denial, 'the ACL denies'],
  // Redis 6.2 has the first `SET` with `PXAT`.
  [/syntax error/, 'Redis 6.2 or newer is needed for'],
]

type Call = (...attempt: [command: string, ...args: string[]]) => Promise<unknown>

/** @param call sends one command; all are sent at once. @returns what Redis says, with the refused commands and the pattern of their keys. */
export async function refusedCommands(call: Call, isCluster: boolean): Promise<Map<string, string[]>> {
  const name = `check-${randomUUID()}`
  const soon = String(Date.now() + 5_000)
  const refused = new Map<string, string[]>()
  const attempt = async (kind: string, text: string): Promise<void> => {
    const [command = '', ...words] = text.split(' ')
    const values: Record<string, string> = { $: `gps:${kind}:${name}`, '@': soon }
    await call(command, ...words.map((word) => values[word] ?? word)).catch(({ message }: Error) => {
      if (message.startsWith('NOSCRIPT')) return
      const [, reason = `${message}:`] = reasons.find(([pattern]) => pattern.test(message)) ?? []
      // Redis does not name a command that it denies within a script: here it is the only one.
      const denied = command === 'EVAL' && /script/.test(message) ? 'TIME' : command
      refused.set(reason, [...(refused.get(reason) ?? []), `${denied} gps:${kind}:*`])
    })
  }
  // The client of a cluster sends it before a command for a key that has been moved while its slot is.
  const all = [...commands, ['key', isCluster ? `${others}, ASKING` : others] as const]
  await Promise.all(all.flatMap(([kind, texts]) => texts.split(', ').map((text) => attempt(kind, text))))
  return refused
}
