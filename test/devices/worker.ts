/** What the tests of the worker share: device rows in every spelling, and jobs run by the real worker over real sockets. */
import type { RequestListener } from 'node:http'
import { Fleet } from '../../src/devices/fleet.js'
import { PlatformUnavailable } from '../../src/platform/errors.js'
import { WorkerClient } from '../../src/platform/worker-client.js'
import type { JobAction, JobParams, JobResults } from '../../src/platform/worker-messages.js'
import { platform, someHash, startedWorker, type Test } from '../helper.js'

export const now = Date.UTC(2026, 4, 12, 9, 30)
export const zone = { offsetMinutes: 120 }

/** A platform with this listener, and the worker of the file, or one of its own for another module; `run` runs a job against it. */
export async function jobs(t: Test, listener: RequestListener, module?: URL) {
  const { url, calls } = await platform(t, listener)
  const worker = module ? new WorkerClient(module) : await startedWorker()
  if (module) t.teardown(() => worker.close())
  const run = <A extends JobAction>(
    action: A,
    params: JobParams[A],
    signal = AbortSignal.timeout(60_000),
    owner = 'a',
  ): Promise<JobResults[A]> => worker.run({ action, url, hash: someHash, owner, params }, signal)
  return { worker, calls, run, devices: (id?: number) => run('get_devices', { id, now }) }
}

/** Runs jobs against a platform; `fleet` decodes the devices. */
export async function lists(t: Test, listener: RequestListener) {
  const all = await jobs(t, listener)
  return { ...all, fleet: async (id?: number) => new Fleet(await all.devices(id), zone) }
}

/** The reason of a failure, or the name of another error; `data` if there is none. */
export const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => 'data',
    (error: unknown) => (error instanceof PlatformUnavailable ? error.reason : (error as Error).name),
  )

const pad = 'x'.repeat(800)

export const row = (id: number) => ({
  ...{ id, name: `Wagen ${id} é`, online: id % 3 ? 'online' : 'offline', time: '12-05-2026 09:29:00' },
  ...{ timestamp: now / 1000 - id, lat: '48.1', lng: 9 + id / 1e5, speed: id % 90, driver: '-' },
  ...{ pad, address: pad },
  ...{ unit_of_distance: 'mi', driver_data: id % 2 ? [] : { id: 7, name: 'Jo' }, total_distance: id / 7 },
  ...{ engine_status: id % 2 > 0, moved_timestamp: now / 1000 - id, stop_duration_sec: id, idle_duration: `${id}s` },
  sensors: [
    { id, type: 'odometer', name: 'Strecke', value: '12 km', val: 12.5 },
    { id, type: 'acc', name: 'Zündung', value: 'An', val: true },
  ],
  device_data: {
    ...{ id, imei: `99${id}`, plate_number: `Ö ${id}`, vin: `V${id}`, sim_number: id, current_driver_id: null },
    services: id % 5 ? [] : [{ id: 4, name: 'Öl', expires: 9 }],
  },
})

/** Rows as platforms send them: in any order, some twice, some in other spellings, some that are no devices. */
const rows = (count: number): unknown[] => [
  ...Array.from({ length: count }, (_, at) => row(count - at)),
  ...[row(3), null, 7, { name: 'no id' }],
  { ...row(count + 1), id: String(count + 1), sensors: '[{"type":"acc","val":"1"}]' },
  { ...row(count + 2), online: 'Busy', time: 'Hace un rato', sensors: { 0: { name: 'S' } } },
]

/** A list of `count + 4` devices, for a `count` of at least 3; three items are no records, and one record is no device. */
export const list = (count: number): unknown => [
  { id: 0, title: 'A "é"', items: rows(count) },
  { id: 1, items: { 4: row(count + 3), 5: row(count + 4) } },
  'no group',
  { title: 'Lost', items: '[{"id":' },
]
