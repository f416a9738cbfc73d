/** `GET /v1/geofences` and `/v1/geofences/:id`. Knows no platform. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import { Geofence, GeofenceDetail, toGeofence, toGeofenceDetail } from '../resources/geofence.js'
import { ListOf, ListQuery, page } from '../resources/list.js'
import { byId, idOf, notFound, PathId, queryOf, type Translate } from './query.js'

export function geofences(app: App, { translate }: { translate: Translate }): void {
  app.get(
    '/geofences',
    {
      schema: {
        operationId: 'listGeofences',
        summary: 'List geofences',
        description: 'The areas of the account, without their shapes.',
        tags: ['Geofences'],
        querystring: ListQuery,
        response: { 200: ListOf(Geofence) },
      },
    },
    async (request) => {
      const wanted = queryOf(ListQuery, request)
      const rows = await request.account.geofences()
      return page(translate('get_geofences', rows, toGeofence).sort(byId), wanted)
    },
  )

  app.get(
    '/geofences/:id',
    {
      schema: {
        operationId: 'getGeofence',
        summary: 'Get a geofence with its shape',
        description: 'The list item and its GeoJSON geometry.',
        tags: ['Geofences'],
        params: Type.Object({ id: PathId('Geofence id', 101) }),
        response: { 200: GeofenceDetail },
      },
    },
    async (request) => {
      const sent = request.params.id
      const id = idOf(sent)
      const rows = id === undefined ? [] : await request.account.geofences()
      const found = rows.map(toGeofenceDetail).find((geofence) => geofence?.id === id)
      if (!found) throw notFound('geofence', sent)
      return found
    },
  )
}
