/** `GET /v1/geofences` and `/v1/geofences/:id`. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import { Geofence, GeofenceDetail, toGeofence, toGeofenceDetail } from '../resources/geofence.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import { id } from '../resources/units.js'
import { byId, notFound, PathId, queryOf, type Translate } from './query.js'

export function geofences(app: App, { translate }: { translate: Translate }): void {
  app.get(
    '/geofences',
    {
      schema: {
        operationId: 'listGeofences',
        summary: 'List geofences',
        description: 'The geofences of the account, without their geometry.',
        tags: ['Geofences'],
        querystring: ListQuery,
        response: { 200: ListOf(Geofence) },
      },
    },
    async (request) => {
      const paging = queryOf(ListQuery, request)
      const rows = await request.account.geofences()
      return page(translate('get_geofences', rows, toGeofence).sort(byId), paging)
    },
  )

  app.get(
    '/geofences/:id',
    {
      schema: {
        operationId: 'getGeofence',
        summary: 'Get a geofence with its geometry',
        description: 'The list item with its GeoJSON geometry, without the list envelope.',
        tags: ['Geofences'],
        params: Type.Object({ id: PathId('Geofence id', 101) }),
        response: { 200: GeofenceDetail },
      },
    },
    async (request) => {
      const sent = request.params.id
      const geofenceId = id(sent)
      const rows = geofenceId === undefined ? [] : await request.account.geofences()
      const found = rows.map(toGeofenceDetail).find((geofence) => geofence?.id === geofenceId)
      if (!found) throw notFound('geofence', sent)
      return found
    },
  )
}
