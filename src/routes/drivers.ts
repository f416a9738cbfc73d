/** `GET /v1/drivers`. Knows no platform. */

import type { DeviceCache } from '../devices/device-cache.js'
import type { App } from '../http/types.js'
import { Driver, driverContext, toDriver } from '../resources/driver.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import { byId, queryOf, type Translate } from './query.js'

export function drivers(app: App, { positions, translate }: { positions: DeviceCache; translate: Translate }): void {
  app.get(
    '/drivers',
    {
      schema: {
        operationId: 'listDrivers',
        summary: 'List drivers',
        description: 'The people who drive, with the vehicle each is assigned to now.',
        tags: ['Drivers'],
        querystring: ListQuery,
        response: { 200: ListOf(Driver) },
      },
    },
    async (request) => {
      const wanted = queryOf(ListQuery, request)
      const [rows, fleet] = await Promise.all([request.account.drivers(), positions.fetchAll(request.account)])
      const context = driverContext(fleet)
      return page(translate('get_user_drivers', rows, (row) => toDriver(row, context)).sort(byId), wanted)
    },
  )
}
