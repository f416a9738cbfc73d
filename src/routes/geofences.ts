/** `GET /v1/geofences` and `/v1/geofences/:id`. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import { jsonBytes } from '../lib/json-bytes.js'
import type { WireGeofence } from '../platform/wire.js'
import {
  Geofence,
  GeofenceDetail,
  GeofencesQuery,
  toGeofence,
  toGeofenceFeature,
  toGeofenceItem,
} from '../resources/geofence.js'
import { toCollection } from '../resources/geojson.js'
import { type List, ListOf } from '../resources/list.js'
import { id } from '../resources/units.js'
import { bytesOf, identified, type Needs, notFound, PathId, reserveItems, sendJson, sendRows } from './query.js'

const cornersOf = ({ coordinates }: WireGeofence): number => coordinates.length

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
    const rows = translate('get_geofences', await request.account.list('get_geofences'), identified)
    if (format === 'json') return sendRows(reply, rows, paging, toGeofenceItem)
    const toBody = (list: List<GeofenceDetail>) => toCollection(list, toGeofenceFeature)
    return sendRows(reply, rows, paging, toGeofence, { partsOf: cornersOf }, { as: format, toBody })
  })

  const getGeofenceSchema = {
    operationId: 'getGeofence',
    summary: 'Get a geofence with its geometry',
    description: 'The list item with its GeoJSON geometry, without the list envelope.',
    tags: ['Geofences'],
    params: Type.Object({ id: PathId('Geofence id', 101) }),
    response: { 200: GeofenceDetail },
  }
  app.get('/geofences/:id', { schema: getGeofenceSchema }, async (request, reply) => {
    const sent = request.params.id
    const geofenceId = id(sent)
    const rows = geofenceId === undefined ? [] : await request.account.list('get_geofences')
    const row = rows.find((geofence) => id(geofence.id) === geofenceId)
    if (geofenceId === undefined || !row) throw notFound('geofence', sent)
    reserveItems(reply, 1, cornersOf(row))
    const json = await bytesOf(reply, jsonBytes(toGeofence(row, geofenceId)))
    return sendJson<GeofenceDetail>(reply, json)
  })
}
