/** Batches of Redis commands: a reply that is none of the documented ones. */
import t from 'tap'
import { Batch } from '../../src/store/batch.js'
import type { Command } from '../../src/store/scripts.js'
import { StoreUnavailable } from '../../src/store/store.js'

const batchOf = (reply: unknown): Batch =>
  new Batch(
    async () => reply,
    () => '',
  )

t.test('an unexpected reply fails the requests that wait for it, and nothing else', async (t) => {
  const commands = 'find use again increment read limit replace reserve HGETALL GET'.split(' ') as Command[]
  const texts = [['a', 'b', 1, 'c', 'd']]
  const replies = [null, undefined, 'OK', 7, {}, [], [{}], [true], [[{}]], [[1, 'x']], texts, [1, 2]]
  for (const command of commands) {
    for (const reply of replies) {
      await t.rejects(batchOf(reply).request(command, 'k'), StoreUnavailable, `${command}: ${JSON.stringify(reply)}`)
    }
  }
})

t.test('the reply for an unknown key is a reply', async (t) => {
  const nothing = [null, null, null, null, null]
  for (const command of ['find', 'use', 'again'] as const)
    t.same(await batchOf([nothing]).request(command, 'k'), nothing)
})

t.test('an error as the reply of one key concerns that key only', async (t) => {
  const batch = batchOf([new Error('WRONGTYPE'), [1, 60_000]])
  t.same(await Promise.all([batch.request('find', 'k'), batch.request('increment', 'c')]), ['damaged', [1, 60_000]])
})
