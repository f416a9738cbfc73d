/** The bulkhead: who gets a slot, in which order, and who is turned away. */
import fc from 'fast-check'
import t from 'tap'
import type { Action } from '../../src/platform/actions.js'
import { Bulkhead, maxInFlight } from '../../src/platform/bulkhead.js'
import { PlatformUnavailable } from '../../src/platform/errors.js'

/** A bulkhead whose calls end when the test says so. */
function bulkhead() {
  const guard = new Bulkhead()
  const open: { name: string; end: () => void }[] = []
  /** Names of the calls in the order of their starts, and of those turned away. */
  const started: string[] = []
  const rejected: string[] = []
  const call = (account: string, action: Action, signal = new AbortController().signal, name = account): void => {
    const isKnown = !account.startsWith('invented')
    const running = guard.run({ account, action, isKnown }, signal, () => {
      started.push(name)
      return new Promise<void>((end) => open.push({ name, end }))
    })
    running.catch((error: unknown) => {
      if (!(error instanceof PlatformUnavailable) || error.reason !== 'overload') throw error
      rejected.push(name)
    })
  }
  const inFlight = (): number => open.length
  return {
    guard,
    inFlight,
    started,
    rejected,
    call,
    calls: (count: number, account: string, action: Action) => {
      for (let n = 0; n < count; n += 1) call(account, action)
    },
    /** Ends the oldest call of this name, or the oldest of all. */
    end: async (name?: string): Promise<void> => {
      const at = name === undefined ? 0 : open.findIndex((one) => one.name === name)
      open.splice(at, 1)[0]?.end()
      await settled()
    },
    isIdle: () => inFlight() === 0 && guard.queued === 0 && guard.accounts === 0,
  }
}

const settled = (): Promise<void> => new Promise((done) => setImmediate(done))

t.test('one account has 8 calls in flight and 64 in its queue; only its own further ones fail, at once', async (t) => {
  const { guard, calls, started, rejected, end, isIdle } = bulkhead()
  calls(73, 'a', 'get_devices')
  await settled()
  t.equal(started.length, 8)
  t.equal(guard.queued, 64)
  t.same(rejected, ['a'])
  calls(9, 'b', 'get_devices')
  await settled()
  t.equal(started.filter((name) => name === 'b').length, 8)
  t.equal(guard.accounts, 2)
  for (let n = 0; n < 72 + 9; n += 1) await end()
  t.equal(started.length, 72 + 9)
  t.ok(isIdle(), 'nothing is kept of accounts without calls')
})

t.test('each kind of call leaves sockets to the more urgent kinds, of one account and of all', async (t) => {
  const { inFlight, calls, started } = bulkhead()
  const ofFirst = async (action: Action): Promise<number> => {
    const other = bulkhead()
    other.calls(9, 'a', action)
    await settled()
    return other.inFlight()
  }
  for (const [action, ofAll, ofOne] of [
    ['get_history', 32, 6],
    ['get_events', 48, 7],
    ['get_user_data', 56, 8],
    ['get_devices', maxInFlight, 8],
  ] as const) {
    for (let n = 0; n < 20; n += 1) calls(9, `account ${n}`, action)
    await settled()
    t.same([inFlight(), await ofFirst(action)], [ofAll, ofOne], action)
  }
  t.equal(started.length, 64)
})

t.test('the more urgent call goes first, and within a kind one account after the other', async (t) => {
  const { call, calls, started, end } = bulkhead()
  for (let n = 0; n < 8; n += 1) calls(8, `busy ${n}`, 'get_devices')
  calls(3, 'h', 'get_history')
  calls(2, 'e', 'get_events')
  calls(2, 'v', 'get_user_data')
  calls(3, 'd1', 'get_devices')
  call('d2', 'get_devices')
  calls(2, 'd3', 'get_devices')
  for (let n = 0; n < 13 + 8 * 4; n += 1) await end()
  t.same(started.slice(64), ['d1', 'd2', 'd3', 'd1', 'd3', 'd1', 'v', 'v', 'e', 'e', 'h', 'h', 'h'])
})

t.test('a call that ends makes room for each call that waited for a part of it', async (t) => {
  const { calls, started, end } = bulkhead()
  for (let n = 0; n < 5; n += 1) calls(6, `h${n}`, 'get_history')
  calls(2, 'a', 'get_history')
  calls(7, 'a', 'get_devices')
  calls(1, 'b', 'get_history')
  await settled()
  t.same(started.slice(30), [...Array(8).fill('a')], 'an account at its limit, and histories at theirs')
  await end('a')
  t.same(started.slice(38), ['a', 'b'])
})

t.test('a call whose deadline passes leaves the queue, and the others keep their order', async (t) => {
  const { guard, call, calls, started, rejected, end, isIdle } = bulkhead()
  calls(8, 'a', 'get_devices')
  const deadlines = Array.from({ length: 4 }, () => new AbortController())
  for (const [n, { signal }] of deadlines.entries()) call('a', 'get_devices', signal, `queued ${n}`)
  deadlines[1]?.abort()
  deadlines[3]?.abort()
  await settled()
  t.same(rejected, ['queued 1', 'queued 3'])
  t.equal(guard.queued, 2)
  await end()
  await end()
  t.same(started.slice(8), ['queued 0', 'queued 2'])
  deadlines[0]?.abort()
  deadlines[2]?.abort()
  await settled()
  t.equal(rejected.length, 2, 'a call that has its slot is not of the queue any more')
  const late = new AbortController()
  call('a', 'get_devices', late.signal, 'alone in the queue')
  late.abort()
  await settled()
  call('a', 'get_devices', late.signal, 'too late already')
  await settled()
  t.same(rejected.slice(2), ['alone in the queue', 'too late already'])
  for (let n = 0; n < 8; n += 1) await end()
  t.ok(isIdle())
})

t.test('the queue is bounded, and twenty accounts do not fill it for the next', async (t) => {
  const { guard, calls, rejected } = bulkhead()
  const isTurnedAway = async (account: string): Promise<boolean> => {
    await settled()
    const before = rejected.length
    calls(1, account, 'get_devices')
    await settled()
    return rejected.length > before
  }
  for (let n = 0; n < 20; n += 1) calls(100, `account ${n}`, 'get_devices')
  t.notOk(await isTurnedAway('calm'))
  for (let n = 0; n < 1_000; n += 1) calls(1, `one more ${n}`, 'get_user_data')
  t.equal(guard.queued, 1_000)
  t.ok(await isTurnedAway('another'))
})

t.test('any number of invented credentials leaves slots and places in the queue to known accounts', async (t) => {
  const { calls, started, rejected, end } = bulkhead()
  for (let n = 0; n < 2_000; n += 1) calls(1, `invented ${n}`, n % 2 === 0 ? 'get_user_data' : 'get_devices')
  await settled()
  t.same([started.length, rejected.length], [40, 2_000 - 40 - 750])
  for (let n = 0; n < 3; n += 1) calls(7, `known ${n}`, 'get_events')
  await settled()
  t.equal(started.length, 56, 'other actions have slots at once')
  calls(2, 'known 3', 'get_user_data')
  for (let n = 0; n < 7; n += 1) await end()
  t.same(started.slice(56, 58), ['known 3', 'known 3'], 'a validation is the next')
  t.equal(rejected.filter((name) => name.startsWith('known')).length, 0)
})

t.test('after any sequence of calls and aborts the limit holds, and each call has run or was rejected', async () => {
  const kinds = ['get_devices', 'get_user_data', 'get_alerts', 'get_history'] as const
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ account: fc.integer({ min: 0, max: 12 }), kind: fc.constantFrom(...kinds) }) },
    { weight: 2, arbitrary: fc.constant('end' as const) },
    { weight: 1, arbitrary: fc.constant('abort' as const) },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 600, size: 'max' }), async (steps) => {
      const { guard, inFlight, call, started, rejected, end, isIdle } = bulkhead()
      const deadlines: AbortController[] = []
      let sent = 0
      for (const one of steps) {
        if (one === 'end') {
          await end()
        } else if (one === 'abort') deadlines.pop()?.abort()
        else {
          const deadline = new AbortController()
          deadlines.push(deadline)
          call(String(one.account), one.kind, deadline.signal)
          sent += 1
        }
        await settled()
        if (inFlight() > maxInFlight) return false
        if (started.length + rejected.length + guard.queued !== sent) return false
      }
      while (inFlight() > 0) await end()
      return isIdle() && started.length + rejected.length === sent
    }),
    { numRuns: 30 },
  )
})
