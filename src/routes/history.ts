/** `GET /v1/history/:device_id`. */
import { setImmediate } from 'node:timers/promises'
import { Type } from 'typebox'
import type { Positions } from '../devices/device-cache.js'
import type { App } from '../http/types.js'
import { History, HistoryQuery, toHistory } from '../resources/history.js'
import { isDay } from '../resources/zone.js'
import { deviceOf, invalid, PathId, queryOf } from './query.js'

export function history(app: App, { positions }: { positions: Positions }): void {
  app.get(
    '/history/:device_id',
    {
      schema: {
        operationId: 'getHistory',
        summary: 'Get the history of a device',
        description: "Positions and totals over whole days of the account's clock, both included.",
        tags: ['History'],
        params: Type.Object({ device_id: PathId('Device id', 1001) }),
        querystring: HistoryQuery,
        response: { 200: History },
      },
    },
    async (request) => {
      const { from, to } = queryOf(HistoryQuery, request)
      for (const [param, value] of Object.entries({ from, to })) {
        if (!isDay(value)) throw invalid(param, `${param} must be a day of the calendar, YYYY-MM-DD.`)
      }
      if (from > to) throw invalid('from', 'from must not be after to.')
      const { id: deviceId } = await deviceOf(positions, request.account, request.params.device_id)
      const wire = await request.account.history(deviceId, from, to)
      return toHistory(wire, { deviceId, from, to }, setImmediate)
    },
  )
}
