/** `GET /v1/history/:device_id`. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import { History, HistoryQuery } from '../resources/history.js'
import { epochDay } from '../resources/time.js'
import { id } from '../resources/units.js'
import { isDay } from '../resources/zone.js'
import { invalid, type Needs, notFound, PathId, sendJson } from './query.js'

export function history(app: App, { deviceCache, maxDays }: Needs): void {
  const getHistorySchema = {
    operationId: 'getHistory',
    summary: 'Get the history of a device',
    description: `Positions, trips, stops, events and totals over whole days of the account's clock, both included. The maximum number of days is ${maxDays}. With \`format=geojson\`, the response is the track: a feature with \`times\` in place of \`positions\`.`,
    tags: ['History'],
    params: Type.Object({ device_id: PathId('Device id', 1001) }),
    querystring: HistoryQuery,
    response: { 200: History },
  }
  app.get('/history/:device_id', { schema: getHistorySchema }, async (request, reply) => {
    const { positions = 'true', format = 'json', ...days } = request.query
    checkDays(days, maxDays)
    const { account, params } = request
    const deviceId = id(params.device_id)
    if (deviceId === undefined || !(await deviceCache.fetch(account, deviceId)).has(deviceId))
      throw notFound('device', params.device_id)
    const wanted = { deviceId, ...days, positions: positions === 'true', format }
    const json = await account.history(wanted, await account.knownSetup())
    // The worker has translated it to the documented shape.
    return sendJson<History>(reply, json, format)
  })
}

function checkDays(days: { from: string; to: string }, maxDays: number): void {
  for (const [param, value] of Object.entries(days)) {
    if (!isDay(value)) throw invalid(param, `\`${param}\` must be a day of the calendar, YYYY-MM-DD.`)
  }
  if (days.from > days.to) throw invalid('from', '`from` must not be after `to`.')
  const count = epochDay(days.to) - epochDay(days.from) + 1
  if (count > maxDays)
    throw invalid('to', `\`to\` is too long after \`from\`: the maximum number of days is ${maxDays}.`)
}
