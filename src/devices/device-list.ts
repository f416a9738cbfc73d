/** Reads the device list of an account: all pages of `get_devices`, row by row. Runs in the worker. */
import { BoundedMap } from '../lib/bounded-map.js'
import { inTurns } from '../lib/in-turns.js'
import type { Row } from '../lib/json-rows/index.js'
import type { Query } from '../platform/actions.js'
import { changedError, checkedRows, checkGroups } from '../platform/changed.js'
import { mayBeTruncated, pageOf } from '../platform/pages.js'
import { isObject } from '../platform/shape.js'
import { wireDevice } from '../platform/wire.js'
import type { Job } from '../platform/worker-messages.js'
import type { JobContext, JobOutput } from '../platform/worker-server.js'
import { toZone } from '../resources/zone.js'
import { FleetBuilder } from './fleet-builder.js'
import { readItems } from './items.js'

/** Pages after which a list that never ends is cut. */
const maxPages = 1_000
/** Empty pages in a row after which a list ends, whatever its last page is said to be. */
const maxEmptyPages = 10
/** Devices to a page, once a platform has shown that it pages: the calls are sent one after another. */
const largePage = 500
const maxEnvelopeBytes = 32 * 1024 * 1024

/**
 * The number of items in each account's last list that had no second page. The platform does not say whether it pages this
 * list (platform.md 3.1), so page 2 is requested once per account, again when that number changes, and once an hour: a
 * list that is as long as a page keeps its length when devices are added.
 */
const wholeLists = new BoundedMap<string, { items: number; at: number }>(20_000)
const wholeForMs = 3_600_000
const nameOf = ({ url, owner }: Job<'get_devices'>): string => `${owner} ${url}`

/** The columns of all devices, or of the device with `params.id`, if the platform sends it alone. */
export async function readDeviceList(job: Job<'get_devices'>, context: JobContext): Promise<JobOutput<'get_devices'>> {
  const { id, now, clock } = job.params
  const fleet = new FleetBuilder(now, clock && toZone(clock))
  const first = await readPage(job, context, fleet, { id })
  if (id === undefined) await readOthers(job, context, fleet, first)
  const ignoresId = id !== undefined && fleet.size > (fleet.has(id) ? 1 : 0)
  const result = { ...fleet.columns(), ignoresId }
  if (result.ids.length === 0 && result.skippedRows > 0)
    throw changedError('get_devices', 'id in any row', first.sample())
  const { ids, rows, groupOf, flags, drivers, updated } = result
  const arrays = [ids, rows.spans, ...rows.blocks, groupOf, flags, drivers, updated]
  return { result, transfer: arrays.map(({ buffer }) => buffer as ArrayBuffer) }
}

/** Reads all pages but the first. */
async function readOthers(job: Job<'get_devices'>, context: JobContext, fleet: FleetBuilder, first: ReadPage) {
  if (isLast(first, 1, 1) || isWhole(job, first)) return
  // Devices, not items: one in two groups is two items. Too small a page repeats devices, too large a one would lose some.
  let full = first.added || 1
  // A platform that numbers its pages may count groups in them: each has the same size without a limit.
  let limit = first.lastPage ? undefined : full
  let [isPaged, empty] = [false, 0]
  // A single row at the end of a list may be a bad one, which is skipped; those of the first page may come again, as `limit` counts none of them.
  const maxBad = Math.max(1, first.items - first.devices)
  for (let page = 2; page <= maxPages; page += 1) {
    const next = await readPage(job, context, fleet, { page, limit })
    if (next.items > maxBad && next.devices === 0) throw changedError('get_devices', 'id in any row', next.sample())
    empty = next.items > 0 ? 0 : empty + 1
    const isEnd = isLast(next, page, full) || empty === maxEmptyPages
    if (isEnd && !isPaged && next.added === 0) wholeLists.set(nameOf(job), { items: first.items, at: job.params.now })
    if (isEnd) break
    if (!isPaged && full < largePage) {
      const { items } = await readPage(job, context, fleet, { page: 1, limit: largePage })
      // A new device on a page of the old size only shows that another one was removed meanwhile.
      if (items > first.items + next.items) [page, limit, full] = [1, largePage, Math.min(fleet.size, items, largePage)]
    }
    isPaged = true
  }
}

type ReadPage = Awaited<ReturnType<typeof readPage>>

/** Whether no page follows. A platform that ignores the page repeats devices. After a full page, the named last page may be too low. */
const isLast = ({ items, added, lastPage = 0 }: ReadPage, page: number, full: number): boolean =>
  (added === 0 && items > 0) || (items < full && page >= lastPage)

/** Whether the list is known to be whole; one of a usual page size never is. */
function isWhole(job: Job<'get_devices'>, { items, added }: ReadPage): boolean {
  const known = wholeLists.get(nameOf(job))
  if (mayBeTruncated(items) || mayBeTruncated(added)) return false
  return known?.items === items && Math.abs(job.params.now - known.at) < wholeForMs
}

/** Some platforms send the devices without groups. */
const inGroups = (rows: unknown[]): unknown[] =>
  rows.some((row) => isObject(row) && 'items' in row) || !rows.some(isDevice) ? rows : [{ items: rows }]

const isDevice = (row: unknown): boolean =>
  isObject(row) && 'id' in row && ('device_data' in row || ('lat' in row && ('online' in row || 'time' in row)))

function readPage({ hash }: Job<'get_devices'>, context: JobContext, fleet: FleetBuilder, query: Query) {
  const request = { action: 'get_devices', hash, query } as const
  return context.client.send(request, context.signal, async (body) => {
    fleet.startPage()
    const onRow = (row: Row): void => fleet.addRow(row)
    const options = { shape: wireDevice, onRow, maxEnvelopeBytes, bytes: () => fleet.bytes }
    const { envelope, rowOf, sample } = await readItems(request, body, options, context)
    const page = pageOf(envelope)
    // Once all are there, an empty page lacks none.
    const total = fleet.size > 0 && fleet.size >= (page.total ?? 0) ? undefined : page.total
    const groups = inGroups(checkedRows('get_devices', { ...page, total }, Number(query.page ?? 1)))
    checkGroups('get_devices', groups)
    return { ...(await inTurns(fleet.addPage(groups, rowOf), context.signal)), lastPage: page.lastPage, sample }
  })
}
