/** `GET /v1/history/:device_id`. */
import { Type } from 'typebox'
import type { DeviceCache } from '../devices/device-cache.js'
import type { App } from '../http/types.js'
import { History, HistoryQuery } from '../resources/history.js'
import { isDay } from '../resources/zone.js'
import { deviceOf, invalid, PathId, queryOf, sendJson } from './query.js'

export function history(app: App, { deviceCache }: { deviceCache: DeviceCache }): void {
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
    async (request, reply) => {
      const { from, to } = queryOf(HistoryQuery, request)
      for (const [param, value] of Object.entries({ from, to })) {
        if (!isDay(value)) throw invalid(param, `\`${param}\` must be a day of the calendar, YYYY-MM-DD.`)
      }
      if (from > to) throw invalid('from', '`from` must not be after `to`.')
      const { id: deviceId } = await deviceOf(deviceCache, request.account, request.params.device_id)
      const json = await request.account.history(deviceId, from, to)
      // The worker has translated it to the documented shape.
      return sendJson<History>(reply, json)
    },
  )
}
