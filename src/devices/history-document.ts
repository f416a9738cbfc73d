/** Reads the history of a device row by row and translates it into the documented response. Runs in the worker. */
import type { Row } from '../lib/json-rows/index.js'
import { checkedHistory } from '../platform/changed.js'
import { isObject, itemsOf, read, type Tally } from '../platform/shape.js'
import { type WireHistory, type WirePoint, wireHistory, wirePoint } from '../platform/wire.js'
import type { Job } from '../platform/worker-messages.js'
import type { JobContext, JobOutput } from '../platform/worker-server.js'
import { isDisplayTime } from '../resources/display-time.js'
import { toHistory, toTrack } from '../resources/history.js'
import { knownZone } from '../resources/zone.js'
import { type RowOf, readItems } from './items.js'

const maxEnvelopeBytes = 16 * 1024 * 1024
/** Estimated heap of a point with its documented position and its share of the response text. */
const pointBytes = 400
/** The same in multiples of its text, for points with long addresses. */
const pointFactor = 3

export async function readHistory(job: Job<'get_history'>, context: JobContext): Promise<JobOutput<'get_history'>> {
  const { setup, format, ...request } = job.params
  const tally: Tally = { skipped: 0 }
  const wire = await readWire(job, context, tally)
  const history = toHistory(wire, { ...request, zone: knownZone(setup), units: setup?.item })
  const json = new TextEncoder().encode(JSON.stringify(format === 'geojson' ? toTrack(history) : history))
  return { result: { json, skippedRows: tally.skipped }, transfer: [json.buffer] }
}

function readWire(
  { hash, params: { deviceId, from, to } }: Job<'get_history'>,
  context: JobContext,
  tally: Tally,
): Promise<WireHistory> {
  const days = { from_date: from, from_time: '00:00:00', to_date: to, to_time: '23:59:59' }
  const request = { action: 'get_history', hash, query: { device_id: deviceId, ...days } } as const
  return context.client.send(request, context.signal, async (body) => {
    const points: WirePoint[] = []
    let bytes = 0
    const onRow = (row: Row): void => {
      points.push(row.record() as WirePoint)
      bytes += Math.max(pointBytes, pointFactor * row.length)
    }
    const options = { shape: wirePoint, onRow, maxEnvelopeBytes, bytes: () => bytes }
    const { envelope, rowOf } = await readItems('get_history', body, options, context)
    return checkedHistory(withPoints(envelope, points, rowOf, tally), envelope, isDisplayTime)
  })
}

const { items: groupShapes, ...totals } = wireHistory
const { items: _points, ...groupShape } = groupShapes[0]

/** The history of an envelope, with the points put back into their groups. */
function withPoints(envelope: unknown, points: readonly WirePoint[], rowOf: RowOf, tally: Tally): WireHistory {
  const pointsOf = (items: unknown[]): WirePoint[] => {
    const rows = items.map(rowOf).filter((row) => row !== undefined)
    tally.skipped += items.length - rows.length
    return rows.map((row) => points[row] as WirePoint)
  }
  const groups = itemsOf(isObject(envelope) ? envelope.items : undefined)
  const records = groups.filter(isObject)
  tally.skipped += groups.length - records.length
  const items = records.map((group) => ({ ...read(groupShape, group, tally), items: pointsOf(itemsOf(group.items)) }))
  return { ...read(totals, envelope, tally), items }
}
