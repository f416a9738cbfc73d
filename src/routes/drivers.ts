/** `GET /v1/drivers`. */
import type { DeviceCache } from '../devices/device-cache.js'
import type { App } from '../http/types.js'
import { Driver, toDriver } from '../resources/driver.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import { byId, queryOf, type Translate } from './query.js'

export function drivers(
  app: App,
  { deviceCache, translate }: { deviceCache: DeviceCache; translate: Translate },
): void {
  app.get(
    '/drivers',
    {
      schema: {
        operationId: 'listDrivers',
        summary: 'List drivers',
        description: 'The drivers of the account, each with the currently assigned vehicle.',
        tags: ['Drivers'],
        querystring: ListQuery,
        response: { 200: ListOf(Driver) },
      },
    },
    async (request) => {
      const paging = queryOf(ListQuery, request)
      const [rows, fleet] = await Promise.all([request.account.drivers(), deviceCache.fetch(request.account)])
      const items = translate('get_user_drivers', rows, (row) => toDriver(row, fleet))
      return page(items.sort(byId), paging)
    },
  )
}
