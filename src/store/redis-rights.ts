/** Tries each command of the gateway on Redis, to find those that an ACL denies. Leaves nothing behind. */
import { randomUUID } from 'node:crypto'

type Value = string | number
type Attempt = [command: string, ...args: Value[]]

/** What follows the key in each command. */
const strings: Attempt[] = [
  ['SET', '1', 'PX', 5_000],
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
  ['HEXISTS', 'field'],
  ['EXISTS'],
  ['HDEL', 'field'],
  ['DEL'],
]
/** @param call sends one command. @returns the denied commands, each with the pattern of its keys. */
export async function deniedCommands(call: (...attempt: Attempt) => Promise<unknown>): Promise<string[]> {
  const name = `check-${randomUUID()}`
  const commands = { 'gps:count:': strings, 'gps:id:': strings, 'gps:key:': hashes(), 'gps:owner:': hashes() }
  const denied = new Set<string>()
  const attempt = async (prefix: string, command: string, ...args: Value[]): Promise<void> => {
    await call(command, ...args).catch((error: Error) => {
      if (/NOPERM|ACL failure/.test(error.message)) denied.add(`${command} ${prefix}*`)
    })
  }
  for (const [prefix, attempts] of Object.entries(commands))
    for (const [command, ...rest] of attempts) await attempt(prefix, command, prefix + name, ...rest)
  await attempt('gps:key:', 'EVAL', "return redis.call('TIME')", 1, `gps:key:${name}`)
  await attempt('gps:key:', 'EVALSHA', '0'.repeat(40), 1, `gps:key:${name}`)
  return [...denied]
}
