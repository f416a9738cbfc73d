/** Tries each command of the gateway on Redis, to find those that an ACL denies. Leaves nothing behind. */
import { randomUUID } from 'node:crypto'

type Attempt = [command: string, ...args: (string | number)[]]

const strings = (key: string): Attempt[] => [
  ['SET', key, '1', 'PX', 5_000],
  ['GET', key],
  ['INCR', key],
  ['SETRANGE', key, 0, ''],
  ['PTTL', key],
  ['PEXPIRE', key, 5_000],
  ['DEL', key],
]
const hashes = (key: string): Attempt[] => [
  ['HSET', key, 'field', 'check'],
  ['PEXPIREAT', key, Date.now() + 5_000],
  ['HGET', key, 'field'],
  ['HMGET', key, 'field'],
  ['HGETALL', key],
  ['HEXISTS', key, 'field'],
  ['EXISTS', key],
  ['HDEL', key, 'field'],
  ['DEL', key],
]

/** @param call sends one command. @returns the denied commands, each with the pattern of its keys. */
export async function deniedCommands(call: (...attempt: Attempt) => Promise<unknown>): Promise<string[]> {
  const name = `check-${randomUUID()}`
  const attempts: Attempt[] = [
    ...['gps:count:', 'gps:id:'].flatMap((prefix) => strings(prefix + name)),
    ...['gps:key:', 'gps:owner:'].flatMap((prefix) => hashes(prefix + name)),
    ['EVAL', "return redis.call('TIME')", 1, `gps:key:${name}`],
    ['EVALSHA', '0'.repeat(40), 1, `gps:key:${name}`],
  ]
  const denied = new Set<string>()
  for (const [command, ...args] of attempts) {
    await call(command, ...args).catch((error: Error) => {
      if (!/NOPERM|ACL failure/.test(error.message)) return
      denied.add(
        `${command} ${
          args
            .map(String)
            .find((arg) => arg.endsWith(name))
            ?.replace(name, '*') ?? ''
        }`,
      )
    })
  }
  return [...denied]
}
