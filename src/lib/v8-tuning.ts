/** Settings of V8 that the hot path and device lists need. To be imported before everything else. */
import { executionAsyncResource } from 'node:async_hooks'
import { setFlagsFromString } from 'node:v8'

/**
 * V8 allocates objects directly in the old generation where many of their kind survived the start. Such an object of a request keeps all
 * that it refers to until the next major collection. Garbage collection takes 16 to 24 µs per request on a busy machine, with this flag 4 to 9.
 */
setFlagsFromString('--no-allocation-site-pretenuring')

/**
 * V8 collects the old generation after it has grown by 8 MB, and counts the buffers of device lists as growth: two of three lists of 10,000
 * caused a collection of some 50 ms. It may grow to 2.5 times its size instead: lists take a third less time. With three times, four lists
 * of 10,000 take 18 MB more memory.
 */
setFlagsFromString('--heap-growing-percent=150')

/**
 * The worker collects its young generation for every tenth list of 50 devices. With V8's helper threads, for which it mostly waits, that
 * takes 1.3 ms, and without them 0.3 ms.
 */
for (const flag of ['--no-parallel-scavenge', '--no-concurrent-array-buffer-sweeping']) setFlagsFromString(flag)

/**
 * `process.nextTick` creates its objects with computed keys. V8 forgets the shape of an object when a major collection finds none, and from
 * then on defines such keys in the runtime: 5 µs for a cached location, which queues ten ticks. One object that stays prevents it; it is exported so that no bundler drops it.
 * Without a hook: `createHook` would slow down every async function, even after it is disabled.
 */
export const keptTicks: object[] = []
process.nextTick(() => keptTicks.push(executionAsyncResource()))
