/** Batches of Redis commands: a reply that is none. */
import t from 'tap'
import { Batch } from '../../src/store/batch.js'
import { StoreUnavailable } from '../../src/store/store.js'

t.test('a reply that is not one per key fails the requests that wait for it, and nothing else', async (t) => {
  for (const reply of [null, undefined, 'OK', 7, {}, [], [1, 2]]) {
    const batch = new Batch(
      async () => reply,
      () => '',
    )
    await t.rejects(batch.request('find', 'k'), StoreUnavailable, JSON.stringify(reply))
  }
})
