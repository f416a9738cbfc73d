/** Another instance of the gateway as far as the store is concerned: a process of its own that does what it is told by message. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { openStore, type StoreConfig } from '../../src/store/open.js'
import type { KeyRecord, KeyStore } from '../../src/store/store.js'
import { aKey, NOW } from './places.js'

type Told = { flood: string } | { create: KeyRecord; max: number } | { revoke: KeyRecord } | { find: KeyRecord }

const FILE = fileURLToPath(import.meta.url)

if (process.argv[1] === FILE && process.send) {
  const config = JSON.parse(process.argv[2] ?? '') as StoreConfig
  const { keys } = await openStore(config, { clock: () => NOW, onError: () => {}, onDamaged: () => {} })
  process.on('message', async (told: Told) => {
    if ('flood' in told) await flood(keys, told.flood)
    else process.send?.(await obey(keys, told))
  })
  process.send('open')
}

async function obey(keys: KeyStore, told: Exclude<Told, { flood: string }>): Promise<unknown> {
  if ('create' in told) return keys.create(told.create, told.max, NOW)
  if ('revoke' in told) return keys.revoke(told.revoke.owner, told.revoke.id, NOW)
  return (await keys.find(told.find.digest, NOW)) ?? null
}

/** Creates keys without end, eight at a time, and tells of each only after the store acknowledged it. */
async function flood(keys: KeyStore, owner: string): Promise<void> {
  const one = async (): Promise<void> => {
    const { record } = aKey(owner)
    await keys.create(record, Number.MAX_SAFE_INTEGER, NOW)
    process.send?.(record)
    return one()
  }
  await Promise.all(Array.from({ length: 8 }, one))
}

export class Instance {
  readonly #child: ChildProcess

  constructor(child: ChildProcess) {
    this.#child = child
  }

  /** What the instance answers to one thing it is told. */
  async tell(told: Exclude<Told, { flood: string }>): Promise<unknown> {
    this.#child.send(told)
    return (await once(this.#child, 'message'))[0]
  }

  /** Lets it create keys of an owner, kills it without warning after `count` of them, and gives all that were acknowledged. */
  async killAfter(count: number, owner: string): Promise<KeyRecord[]> {
    const acknowledged: KeyRecord[] = []
    const exit = once(this.#child, 'exit')
    this.#child.on('message', (record: KeyRecord) => {
      if (acknowledged.push(record) === count) this.#child.kill('SIGKILL')
    })
    this.#child.send({ flood: owner })
    await exit
    return acknowledged
  }
}

export async function instance(t: Test, config: StoreConfig): Promise<Instance> {
  const child = fork(FILE, [JSON.stringify(config)])
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return new Instance(child)
}
