/** `GET /v1/alerts`. */
import type { App } from '../http/types.js'
import type { WireAlert } from '../platform/wire.js'
import { Alert, coversAll, toAlert } from '../resources/alert.js'
import { ListOf, ListQuery } from '../resources/list.js'
import { charsIn, identified, type Needs, namesIn, sendRows } from './query.js'

export function alerts(app: App, { deviceCache, translate }: Needs): void {
  const listAlertsSchema = {
    operationId: 'listAlerts',
    summary: 'List alerts',
    description: 'The configured rules of the account, each with the devices it is assigned to.',
    tags: ['Alerts'],
    querystring: ListQuery,
    response: { 200: ListOf(Alert) },
  }
  app.get('/alerts', { schema: listAlertsSchema }, async (request, reply) => {
    // One after the other: rows that wait for the devices would not be in the memory budget.
    const devices = await deviceCache.fetch(request.account)
    const rows = translate('get_alerts', await request.account.list('get_alerts'), identified)
    const fleet = { ids: devices.ids, name: namesIn(devices) }
    const devicesOf = (row: WireAlert): number => (coversAll(row) ? devices.length : row.devices.length)
    const charsOf = (alert: Alert): number =>
      alert.devices.reduce((sum, { name }) => sum + name.length, charsIn(alert) + charsIn(alert.types))
    const options = { partsOf: devicesOf, charsOf }
    return sendRows(reply, rows, request.query, (row, id) => toAlert(row, id, fleet), options)
  })
}
