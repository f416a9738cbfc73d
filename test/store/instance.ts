/** Another instance of the gateway as far as the store is concerned: a process of its own that is called by message. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { openStore, type StoreConfig } from '../../src/store/open.js'
import type { KeyRecord } from '../../src/store/store.js'
import { aKey, NOW } from './places.js'

type Call = { create: KeyRecord; max: number } | { revoke: KeyRecord } | { find: KeyRecord } | { flood: string }

const FILE = fileURLToPath(import.meta.url)

if (process.argv[1] === FILE && process.send) {
  const config = JSON.parse(process.argv[2] ?? '') as StoreConfig
  const { keys } = await openStore(config, { clock: () => NOW, onDamaged: () => {} })
  const perform = async (call: Call): Promise<unknown> => {
    if ('create' in call) return keys.create(call.create, call.max, NOW)
    if ('revoke' in call) return keys.revoke(call.revoke.owner, call.revoke.id, NOW)
    if ('find' in call) return (await keys.find(call.find.digest, NOW)) ?? null
    const { record } = aKey(call.flood)
    // On a busy machine one may be too late; its key is not acknowledged.
    if (await keys.create(record, Number.MAX_SAFE_INTEGER, NOW).catch(() => undefined)) process.send?.(record)
    return perform(call)
  }
  process.on('message', async (call: Call) => process.send?.(await perform(call).catch(String)))
  process.send('open')
}

export async function instance(t: Test, config: StoreConfig, env: Record<string, string> = {}) {
  const child = fork(FILE, [JSON.stringify(config)], { env: { ...process.env, ...env } })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return {
    /** The result of one method of its store, or the error as text. */
    call: async (call: Exclude<Call, { flood: string }>): Promise<unknown> => {
      child.send(call)
      return (await once(child, 'message'))[0]
    },
    /** Lets it create keys of an owner, eight at a time, kills it after `count` of them, and returns all that it acknowledged. */
    killAfter: async (count: number, owner: string): Promise<KeyRecord[]> => {
      const acknowledged: KeyRecord[] = []
      const exit = once(child, 'exit')
      child.on('message', (record: KeyRecord) => {
        if (acknowledged.push(record) === count) child.kill('SIGKILL')
      })
      for (let n = 0; n < 8; n++) child.send({ flood: owner })
      await exit
      return acknowledged
    },
  }
}
