/** `GET /v1/geofences` and `/v1/geofences/:id`. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import {
  Geofence,
  GeofenceDetail,
  GeofencesQuery,
  toGeofence,
  toGeofenceFeature,
  toGeofenceItem,
} from '../resources/geofence.js'
import { toCollection } from '../resources/geojson.js'
import { ListOf } from '../resources/list.js'
import { id } from '../resources/units.js'
import { identified, type Needs, notFound, PathId, pageOfRows, sendJson } from './query.js'

export function geofences(app: App, { translate }: Needs): void {
  const listGeofencesSchema = {
    operationId: 'listGeofences',
    summary: 'List geofences',
    description: 'The geofences of the account, without their geometry; as GeoJSON, with it.',
    tags: ['Geofences'],
    querystring: GeofencesQuery,
    response: { 200: ListOf(Geofence) },
  }
  app.get('/geofences', { schema: listGeofencesSchema }, async (request, reply) => {
    const { format = 'json', ...paging } = request.query
    const rows = await request.account.geofences()
    const ordered = translate('get_geofences', rows, identified)
    if (format === 'json') return pageOfRows(reply, ordered, paging, toGeofenceItem)
    const list = pageOfRows(reply, ordered, paging, toGeofence, ({ coordinates }) => coordinates.length)
    return sendJson<typeof list>(reply, JSON.stringify(toCollection(list, toGeofenceFeature)), format)
  })

  const getGeofenceSchema = {
    operationId: 'getGeofence',
    summary: 'Get a geofence with its geometry',
    description: 'The list item with its GeoJSON geometry, without the list envelope.',
    tags: ['Geofences'],
    params: Type.Object({ id: PathId('Geofence id', 101) }),
    response: { 200: GeofenceDetail },
  }
  app.get('/geofences/:id', { schema: getGeofenceSchema }, async (request) => {
    const sent = request.params.id
    const geofenceId = id(sent)
    const rows = geofenceId === undefined ? [] : await request.account.geofences()
    const row = rows.find((geofence) => id(geofence.id) === geofenceId)
    if (geofenceId === undefined || !row) throw notFound('geofence', sent)
    return toGeofence(row, geofenceId)
  })
}
