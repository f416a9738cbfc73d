/** Tries each command of the gateway on Redis, to find those that it refuses. Leaves nothing behind. */
import { randomUUID } from 'node:crypto'

type Value = string | number
type Attempt = [command: string, ...args: Value[]]

/** What follows the key in each command. */
const strings = (): Attempt[] => [
  ['SET', '1', 'PXAT', Date.now() + 5_000],
  ['GET'],
  ['INCR'],
  ['SETRANGE', 0, ''],
  ['PTTL'],
  ['PEXPIRE', 5_000],
  ['DEL'],
]
const hashes = (): Attempt[] => [
  ['HSET', 'field', 'check'],
  ['PEXPIREAT', Date.now() + 5_000],
  ['HGET', 'field'],
  ['HMGET', 'field'],
  ['HGETALL'],
  ['EXISTS'],
  ['HDEL', 'field'],
  ['DEL'],
]

const reasons: [message: RegExp, reason: string][] = [
  [/NOPERM|ACL failure/, 'the ACL denies'],
  // Redis 6.2 has the first `SET` with `PXAT`.
  [/syntax error/, 'Redis 6.2 or newer is needed for'],
]

/** @param call sends one command. @returns what Redis says, with the refused commands and the pattern of their keys. */
export async function refusedCommands(call: (...attempt: Attempt) => Promise<unknown>): Promise<Map<string, string[]>> {
  const name = `check-${randomUUID()}`
  const commands = { 'gps:count:': strings(), 'gps:id:': strings(), 'gps:key:': hashes(), 'gps:owner:': hashes() }
  const refused = new Map<string, string[]>()
  const attempt = async (prefix: string, command: string, ...args: Value[]): Promise<void> => {
    await call(command, ...args).catch(({ message }: Error) => {
      // The script of this digest does not exist.
      if (message.startsWith('NOSCRIPT')) return
      const [, reason = `${message}:`] = reasons.find(([pattern]) => pattern.test(message)) ?? []
      refused.set(reason, [...(refused.get(reason) ?? []), `${command} ${prefix}*`])
    })
  }
  for (const [prefix, attempts] of Object.entries(commands))
    for (const [command, ...rest] of attempts) await attempt(prefix, command, prefix + name, ...rest)
  await attempt('gps:key:', 'EVAL', "return redis.call('TIME')", 1, `gps:key:${name}`)
  await attempt('gps:key:', 'EVALSHA', '0'.repeat(40), 1, `gps:key:${name}`)
  // For the list of all keys on the command line.
  await attempt('gps:key:', 'SCAN', 0, 'MATCH', `gps:key:${name}`)
  return refused
}
