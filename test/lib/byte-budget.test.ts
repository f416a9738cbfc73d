/** The byte budget: bounded in total and per owner, and everything is given back. */
import t from 'tap'
import { ByteBudget } from '../../src/lib/byte-budget.js'

t.test('no owner gets more than its share, and all together no more than the budget', async (t) => {
  const budget = new ByteBudget(120)
  const [a, b, again] = [budget.open('a'), budget.open('b'), budget.open('a')]
  t.ok(a.grow(50))
  t.notOk(again.grow(11), 'the share of the owner, over all its reservations')
  t.ok(again.grow(10))
  t.ok(b.grow(60))
  t.notOk(budget.open('c').grow(1), 'the budget')
  t.equal(budget.usedBytes, 120)
  t.equal(budget.rejected, 2)
  t.equal(again.bytes, 10, 'a refused growth adds nothing')
})

t.test('a part that is given back is free again, and never more than is held', async (t) => {
  const budget = new ByteBudget(120)
  const [a, b] = [budget.open('a'), budget.open('a')]
  a.grow(50)
  b.grow(10)
  a.shrink(20)
  t.same([a.bytes, budget.usedBytes], [30, 40])
  a.shrink(99)
  t.same([a.bytes, b.bytes, budget.usedBytes], [0, 10, 10])
  a.release()
  a.shrink(1)
  t.equal(budget.usedBytes, 10)
})

t.test('what is released is free again, once', async (t) => {
  const budget = new ByteBudget(120)
  const a = budget.open('a')
  a.grow(60)
  t.ok(budget.open('b').grow(1) && budget.isShort)
  a.release()
  a.release()
  t.equal(budget.usedBytes, 1)
  t.notOk(budget.isShort)
  t.notOk(a.grow(1), 'a released reservation holds nothing again')
  t.ok(budget.open('a').grow(60))
})
