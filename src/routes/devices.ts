/** `GET /v1/devices`, `/v1/devices/:id` and `/v1/devices/:id/location`. */
import { Type } from 'typebox'
import type { DeviceCache } from '../devices/device-cache.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import { Device, DevicesQuery, maxIds } from '../resources/device.js'
import { DeviceCollection, toDeviceFeature } from '../resources/device-feature.js'
import { eitherFormat } from '../resources/geojson.js'
import { type List, ListOf, page } from '../resources/list.js'
import { Location, toLocation } from '../resources/location.js'
import { deviceOf, mediaTypes, PathId, queryOf, sendJson, serialized } from './query.js'

const DeviceId = Type.Object({ id: PathId('Device id', 1001) })

/** Responses to cache per device or device list; of a list only pages up to a limit, since clients poll short ones. */
const maxResponses = 4
const maxCachedLimit = 50

/** Serialized responses, kept as long as the device or the device list that they show. */
class ResponseCache {
  readonly #responses = new WeakMap<object, Map<string, string | Buffer>>()

  get(source: object, name: string, serialize: () => string | Buffer): string | Buffer {
    const responses = this.#responses.get(source) ?? new Map<string, string | Buffer>()
    const cached = responses.get(name)
    if (cached !== undefined) return cached
    const response = serialize()
    if (responses.size < maxResponses) this.#responses.set(source, responses.set(name, response))
    return response
  }
}

export function devices(app: App, { deviceCache }: { deviceCache: DeviceCache }): void {
  const cache = new ResponseCache()
  app.get(
    '/devices',
    {
      schema: {
        operationId: 'listDevices',
        summary: 'List devices',
        description:
          'The devices of the account by id, with their last known state. As GeoJSON, devices without a position are left out of a page, and still count.',
        tags: ['Devices'],
        querystring: DevicesQuery,
        response: { 200: eitherFormat(ListOf(Device), DeviceCollection) },
      },
    },
    async (request, reply) => {
      const query = queryOf(DevicesQuery, request)
      const { status, ids, updated_since: updatedSince, format = 'json', offset = 0 } = query
      const isShort = ids !== undefined && !Object.hasOwn(request.query, 'limit')
      const limit = isShort ? maxIds : (query.limit ?? 50)
      const devices = await deviceCache.fetchAll(request.account)
      const serialize = (): string => {
        const isFiltered = status !== undefined || ids !== undefined || updatedSince !== undefined
        const list = page(isFiltered ? devices.where({ status, ids, updatedSince }) : devices, { limit, offset })
        return serialized(reply, format, list, toDeviceFeature)
      }
      const isCached = limit <= maxCachedLimit && ids === undefined && updatedSince === undefined
      const name = `${format} ${limit} ${offset} ${status ?? ''}`
      const body = isCached ? cache.get(devices, name, () => Buffer.from(serialize())) : serialize()
      return sendJson<List<Device>>(reply, body, mediaTypes[format])
    },
  )

  app.get(
    '/devices/:id',
    {
      schema: {
        operationId: 'getDevice',
        summary: 'Get a device',
        description: 'One device with its last known state, without the list envelope.',
        tags: ['Devices'],
        params: DeviceId,
        response: { 200: Device },
      },
    },
    async (request, reply) => {
      const device = await deviceOf(deviceCache, request.account, request.params.id)
      const serialize = (): string => String(reply.serialize(device))
      return sendJson<Device>(reply, cache.get(device, 'device', serialize))
    },
  )

  app.get(
    '/devices/:id/location',
    {
      schema: {
        operationId: 'getDeviceLocation',
        summary: 'Get the last position of a device',
        description: 'Only position and movement. A device that never had a position is 404 `no_location`.',
        tags: ['Devices'],
        params: DeviceId,
        response: { 200: Location },
      },
    },
    async (request, reply) => {
      const device = await deviceOf(deviceCache, request.account, request.params.id)
      const serialize = (): string => {
        const location = toLocation(device)
        if (!location) throw new ApiError('no_location')
        return String(reply.serialize(location))
      }
      return sendJson<Location>(reply, cache.get(device, 'location', serialize))
    },
  )
}
