/** Reads the history of a device row by row and translates it into the documented response. Runs in the worker. */
import { RowReader } from '../lib/json-rows/index.js'
import { readRows } from '../platform/body.js'
import { checkedHistory } from '../platform/changed.js'
import { itemsOf, read, type Tally } from '../platform/shape.js'
import { type WireHistory, type WirePoint, wireHistory, wirePoint } from '../platform/wire.js'
import type { Job } from '../platform/worker-messages.js'
import type { JobContext, JobOutput } from '../platform/worker-server.js'
import { toHistory } from '../resources/history.js'
import { toTrack } from '../resources/track.js'
import { knownZone } from '../resources/zone.js'

const maxEnvelopeBytes = 16 * 1024 * 1024
const maxRowBytes = 1024 * 1024
/** Estimated heap of a point with its documented position and its share of the response text. */
const pointBytes = 400

export async function readHistory(job: Job<'get_history'>, context: JobContext): Promise<JobOutput<'get_history'>> {
  const { setup, format, ...request } = job.params
  const tally: Tally = { skipped: 0 }
  const wire = await readWire(job, context, tally)
  const history = toHistory(wire, {
    ...request,
    zone: knownZone(setup),
  })
  const json = new TextEncoder().encode(JSON.stringify(format === 'geojson' ? toTrack(history) : history))
  return { result: { json, skippedRows: tally.skipped }, transfer: [json.buffer] }
}

function readWire(
  { hash, params: { deviceId, from, to } }: Job<'get_history'>,
  { client, signal, reservation }: JobContext,
  tally: Tally,
): Promise<WireHistory> {
  const days = { from_date: from, from_time: '00:00:00', to_date: to, to_time: '23:59:59' }
  const request = { action: 'get_history', hash, query: { device_id: deviceId, ...days } } as const
  return client.send(request, signal, async (body) => {
    const points: WirePoint[] = []
    const reader = new RowReader({
      shape: wirePoint,
      normalize: (record) => read(wirePoint, record),
      onRow: (row) => void points.push(row.record() as WirePoint),
      listName: 'items',
      maxEnvelopeBytes,
      maxRowBytes,
    })
    const sink = {
      write: (chunk: Uint8Array) => reader.write(chunk),
      end: () => reader.end(),
      get bytes() {
        return points.length * pointBytes
      },
    }
    const envelope = await readRows('get_history', body, sink, reservation)
    return checkedHistory(withPoints(envelope, { points, reader, tally }), envelope)
  })
}

const { items: groupShapes, ...totals } = wireHistory
const { items: _points, ...groupShape } = groupShapes[0]

/** The points that a reader has read, and the items that are none. */
interface Read {
  points: readonly WirePoint[]
  reader: RowReader
  tally: Tally
}

/** The history of an envelope, with the points put back into their groups. */
function withPoints(envelope: unknown, source: Read): WireHistory {
  const { items } = isRecord(envelope) ? envelope : {}
  const groups = itemsOf(items)
  const records = groups.filter(isRecord)
  source.tally.skipped += groups.length - records.length
  return {
    ...read(totals, envelope, source.tally),
    items: records.map((group) => ({
      ...read(groupShape, group, source.tally),
      items: pointsOf(group.items, source),
    })),
  }
}

function pointsOf(raw: unknown, { points, reader, tally }: Read): WirePoint[] {
  return itemsOf(raw).flatMap((item) => {
    // Points in an object with numeric keys are part of the envelope.
    const row = reader.rowAt(item) ?? (isRecord(item) ? reader.add(item) : undefined)
    if (row === undefined) tally.skipped += 1
    return row === undefined ? [] : (points[row] as WirePoint)
  })
}

const isRecord = (raw: unknown): raw is Record<string, unknown> =>
  typeof raw === 'object' && raw !== null && !Array.isArray(raw)
