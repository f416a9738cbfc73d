/** What the tests of histories share: the history of a response, and points of a day. */
import type { Steps } from '../../src/lib/in-turns.js'
import { read } from '../../src/platform/shape.js'
import { wireHistory } from '../../src/platform/wire.js'
import { type History, toHistory } from '../../src/resources/history.js'
import type { HistoryContext } from '../../src/resources/position.js'

/** The result of work without turns. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

const requested = { deviceId: 318, from: '2026-05-11', to: '2026-05-12', positions: true }
export const zone = { offsetMinutes: 120 }
export const history = (raw: unknown, context: Partial<HistoryContext> = { zone }) =>
  atOnce(toHistory(read(wireHistory, raw), { ...requested, ...context }))
const place = { latitude: 48.2, longitude: 16.3, lat: 48.2, lng: 16.3 }
/** A point on 11 May 2026. Its `device_id` is not the id of the device (N29). */
export const point = (id: unknown, time: string, more: object = {}) => ({
  ...{ id, device_id: 5, raw_time: `2026-05-11 ${time}`, time: `11-05-2026 ${time}`, ...place, speed: 14, ...more },
})
export const clocks = ({ positions }: History): string[] => positions.map(({ time }) => time.slice(11))

export const told = { course: 88, altitude: 171 }
export const envelope = { object: 'history', device_id: 318, from: '2026-05-11', to: '2026-05-12' }
