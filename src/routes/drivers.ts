/** `GET /v1/drivers`. */
import type { App } from '../http/types.js'
import { Driver, toDriver } from '../resources/driver.js'
import { ListOf, ListQuery } from '../resources/list.js'
import { identified, type Needs, namesIn, sendRows } from './query.js'

export function drivers(app: App, { deviceCache, translate }: Needs): void {
  const listDriversSchema = {
    operationId: 'listDrivers',
    summary: 'List drivers',
    description: 'The drivers of the account, each with the currently assigned vehicle.',
    tags: ['Drivers'],
    querystring: ListQuery,
    response: { 200: ListOf(Driver) },
  }
  app.get('/drivers', { schema: listDriversSchema }, async (request, reply) => {
    // One after the other: rows that wait for the devices would not be in the memory budget.
    const fleet = await deviceCache.fetch(request.account)
    const rows = translate('get_user_drivers', await request.account.list('get_user_drivers'), identified)
    const devices = { name: namesIn(fleet), withDriver: (driver: number) => fleet.withDriver(driver) }
    return sendRows(reply, rows, request.query, (row, id) => toDriver(row, id, devices))
  })
}
