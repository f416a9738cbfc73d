/** Reads the history of a device row by row and translates it into the documented response. Runs in the worker. */
import { inTurns, type Steps } from '../lib/in-turns.js'
import { jsonBytes } from '../lib/json-bytes.js'
import type { Row } from '../lib/json-rows/index.js'
import { checkedHistory } from '../platform/changed.js'
import { isObject, itemsOf, read, type Tally } from '../platform/shape.js'
import { type WireHistory, type WireHistoryGroup, type WirePoint, wireHistory, wirePoint } from '../platform/wire.js'
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
  const known = { ...request, zone: knownZone(setup), units: setup?.item }
  const history = await inTurns(toHistory(wire, known), context.signal)
  const json = await inTurns(jsonBytes(format === 'geojson' ? toTrack(history) : history), context.signal)
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
    const { envelope, rowOf, sample } = await readItems(request, body, options, context)
    const wire = await inTurns(withPoints(envelope, points, rowOf, tally), context.signal)
    return checkedHistory(wire, envelope, isDisplayTime, sample)
  })
}

const { items: groupShapes, ...totals } = wireHistory
const { items: _points, ...groupShape } = groupShapes[0]

/** The history of an envelope, with the points put back into their groups. */
function* withPoints(envelope: unknown, points: readonly WirePoint[], rowOf: RowOf, tally: Tally): Steps<WireHistory> {
  const items: WireHistoryGroup[] = []
  for (const group of itemsOf(isObject(envelope) ? envelope.items : undefined)) {
    if (!isObject(group)) {
      tally.skipped += 1
      continue
    }
    const found: WirePoint[] = []
    for (const item of itemsOf(group.items)) {
      const row = rowOf(item)
      if (row === undefined) tally.skipped += 1
      else found.push(points[row] as WirePoint)
      yield
    }
    items.push({ ...read(groupShape, group, tally), items: found })
    yield
  }
  return { ...read(totals, envelope, tally), items }
}
