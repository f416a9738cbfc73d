/** Reads the device list of an account: all pages of `get_devices`, row by row. Runs in the worker. */
import { BoundedMap } from '../lib/bounded-map.js'
import type { Row } from '../lib/json-rows/index.js'
import { changed, checkGroups } from '../platform/changed.js'
import type { Query } from '../platform/http-client.js'
import { mayBeTruncated, pageOf } from '../platform/pages.js'
import { wireDevice } from '../platform/wire.js'
import type { Job } from '../platform/worker-messages.js'
import type { JobContext, JobOutput } from '../platform/worker-server.js'
import { toZone } from '../resources/zone.js'
import { FleetBuilder, type PageCount } from './fleet-builder.js'
import { readItems } from './items.js'

/** Pages after which a list that never ends is cut. */
const maxPages = 1_000
const maxEnvelopeBytes = 32 * 1024 * 1024

/**
 * The number of rows of each account's last list that had no second page. The platform does not say whether it pages this
 * list (platform.md 3.1), so page 2 is requested once per account, again when the number of rows changes, and once an hour: a
 * list that is as long as a page keeps its length when devices are added.
 */
const wholeLists = new BoundedMap<string, { rows: number; at: number }>(20_000)
const wholeForMs = 3_600_000
const nameOf = ({ url, owner }: Job<'get_devices'>): string => `${owner} ${url}`

/** The columns of all devices, or of the device with `params.id`; a platform that ignores `id` sends all. */
export async function readDeviceList(job: Job<'get_devices'>, context: JobContext): Promise<JobOutput<'get_devices'>> {
  const { id } = job.params
  const fleet = (id === undefined ? undefined : await readOne(id, job, context)) ?? (await readAll(job, context))
  const result = fleet.columns()
  if (result.ids.length === 0 && result.skippedRows > 0) throw changed('get_devices', 'id in any row', undefined)
  const { ids, rows, groupOf, flags, drivers, updated } = result
  const arrays = [ids, rows.spans, ...rows.blocks, groupOf, flags, drivers, updated]
  return { result, transfer: arrays.map(({ buffer }) => buffer as ArrayBuffer) }
}

const builderFor = ({ params: { now, clock } }: Job<'get_devices'>): FleetBuilder =>
  new FleetBuilder(now, clock && toZone(clock))

/** Undefined where the device may be on another page of a platform that ignores `id`. An unknown id gives no rows. */
async function readOne(id: number, job: Job<'get_devices'>, context: JobContext): Promise<FleetBuilder | undefined> {
  const fleet = builderFor(job)
  const { rows } = await readPage(job, context, fleet, { id })
  return fleet.has(id) || rows === 0 || isWhole(job, rows) ? fleet : undefined
}

async function readAll(job: Job<'get_devices'>, context: JobContext): Promise<FleetBuilder> {
  const fleet = builderFor(job)
  const { rows: limit } = await readPage(job, context, fleet, {})
  if (limit === 0 || isWhole(job, limit)) return fleet
  for (let page = 2; page <= maxPages; page += 1) {
    const { rows, added } = await readPage(job, context, fleet, { page, limit })
    if (page === 2 && added === 0) wholeLists.set(nameOf(job), { rows: limit, at: job.params.now })
    if (added === 0 || rows < limit) break
  }
  return fleet
}

/** Whether the list is known to be whole; one of a usual page size never is. */
function isWhole(job: Job<'get_devices'>, rows: number): boolean {
  const known = wholeLists.get(nameOf(job))
  return !mayBeTruncated(rows) && known?.rows === rows && Math.abs(job.params.now - known.at) < wholeForMs
}

function readPage(
  { hash }: Job<'get_devices'>,
  context: JobContext,
  fleet: FleetBuilder,
  query: Query,
): Promise<PageCount> {
  return context.client.send({ action: 'get_devices', hash, query }, context.signal, async (body) => {
    // Taken here, since a request that is sent again starts with rows of its first attempt in the builder.
    const firstRow = fleet.nextRow
    const onRow = (row: Row): void => fleet.addRow(row)
    const options = { shape: wireDevice, onRow, maxEnvelopeBytes, bytes: () => fleet.bytes }
    const { envelope, rowOf } = await readItems('get_devices', body, options, context)
    checkGroups('get_devices', pageOf(envelope).rows)
    return fleet.addPage(envelope, rowOf, firstRow)
  })
}
