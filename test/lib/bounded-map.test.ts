/** The bounded map. */
import t from 'tap'
import { BoundedMap } from '../../src/lib/bounded-map.js'

t.test('a full map forgets the entry that was set least recently', async (t) => {
  const map = new BoundedMap<string, number>(3)
  for (const key of ['a', 'b', 'c']) map.set(key, 1)
  t.equal(map.size, 3)
  map.set('a', 2)
  t.equal(map.size, 3, 'an entry set again takes no more room')
  map.set('d', 1).set('e', 1)
  t.same(
    [...map],
    [
      ['a', 2],
      ['d', 1],
      ['e', 1],
    ],
  )
})
