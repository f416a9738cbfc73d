/** The worker as the main thread sees it: what goes wrong in it ends there, and the next request finds a working one. */
import { readdirSync, readFileSync } from 'node:fs'
import { getPriority } from 'node:os'
import t from 'tap'
import type { PlatformUnavailable } from '../../src/platform/errors.js'
import { WorkerClient } from '../../src/platform/worker-client.js'
import { jobs, list } from '../devices/worker.js'
import { until } from '../redis.js'
import { sends } from './faulty.js'

const mortal = new URL('./mortal-worker.js', import.meta.url)

async function mortalJobs(t: Parameters<typeof jobs>[0]) {
  const { run, worker } = await jobs(t, () => {}, mortal)
  const rest = { deviceId: 1, to: '{}', positions: true, format: 'json', setup: undefined } as const
  const history = (from: string, signal?: AbortSignal) => run('get_history', { ...rest, from }, signal)
  const failure = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 'a result',
      (error: PlatformUnavailable) => `${error.name} ${error.message}`,
    )
  return { history, failure, worker }
}

t.test('a bug in one job, or its aborted signal, fails that job alone, and quotes nothing of a response', async (t) => {
  const { history, failure } = await mortalJobs(t)
  const stop = new AbortController()
  const beside = failure(history('hang', stop.signal))
  t.equal(await failure(history('throw')), 'PlatformUnavailable get_history: overload (TypeError in the worker)')
  t.equal(Buffer.from((await history('json')).json).toString(), '{}')
  stop.abort()
  t.equal(await beside, 'PlatformUnavailable get_history: timeout')
  t.equal(await failure(history('hang', stop.signal)), 'PlatformUnavailable get_history: timeout', 'aborted before')
})

t.test('a worker that ends fails its jobs, and the next job starts another', async (t) => {
  const { history, failure, worker } = await mortalJobs(t)
  const beside = failure(history('hang'))
  t.match(await failure(history('exit')), /overload \(the worker ended\)/)
  t.match(await beside, /overload \(the worker ended\)/)
  t.equal(await failure(history('json')), 'a result')
  const closed = failure(history('hang'))
  await worker.close()
  t.match(await closed, /overload/)
  t.equal(await failure(history('json')), 'a result')
})

t.test('a worker that cannot start says why', async (t) => {
  const start = (code: string) => new WorkerClient(new URL(`data:text/javascript,${code}`)).start()
  await t.rejects(start('throw new Error("no row.wasm")'), { message: 'no row.wasm' })
  await t.rejects(start('process.exit(3)'), { message: 'the worker ended at its start with code 3' })
})

t.test('the memory of the responses that the worker reads is known while it reads them', async (t) => {
  let finish = (): void => {}
  const { devices, worker } = await jobs(t, (_request, response) => {
    const text = JSON.stringify(list(500))
    response.write(text.slice(0, -9))
    finish = () => response.end(text.slice(-9))
  })
  const reading = devices(3)
  await until(() => worker.usedBytes > 10_000)
  finish()
  await reading
  await until(() => worker.usedBytes === 0)
})

t.test('no memory is in use after the end of a worker that held some', async (t) => {
  const { history, failure, worker } = await mortalJobs(t)
  const held = failure(history('hold'))
  await until(() => worker.usedBytes === 5_000)
  await failure(history('exit'))
  await held
  t.equal(worker.usedBytes, 0)
})

const onLinux = { skip: process.platform !== 'linux' && 'priorities of Linux' }
t.test('responses from memory go before lists', onLinux, async (t) => {
  const { devices } = await jobs(t, sends(JSON.stringify(list(3))))
  await devices()
  const niceOf = (id: string): number =>
    Number(readFileSync(`/proc/self/task/${id}/stat`, 'utf8').split(') ')[1]?.split(' ')[16])
  t.equal(niceOf(String(process.pid)), getPriority())
  t.ok(readdirSync('/proc/self/task').some((id) => niceOf(id) === 10))
})
