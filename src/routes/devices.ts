/** `GET /v1/devices`, `/v1/devices/:id` and `/v1/devices/:id/location`. */
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { ApiError } from '../errors.js'
import { isCompressible } from '../http/compression.js'
import { entityTag } from '../http/conditional.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { Device, DevicesQuery, maxIds } from '../resources/device.js'
import { DeviceCollection, toDeviceFeature } from '../resources/device-feature.js'
import { eitherFormat, geoJson } from '../resources/geojson.js'
import { type List, ListOf, page } from '../resources/list.js'
import { Location, toLocation } from '../resources/location.js'
import { LastKnown, type LastKnownOptions } from './last-known.js'
import { mediaTypes, PathId, queryOf, sendJson, sendList } from './query.js'

const DeviceId = Type.Object({ id: PathId('Device id', 1001) })

/** Responses to cache per device or device list; of a list only pages up to a limit, since clients poll short ones. */
const maxResponses = 4
const maxCachedLimit = 50

interface CachedResponse {
  body: string | Buffer
  tag: string
  /** Of the one device in the body, and perhaps found later than the device; null for a list, which shows those known when it was serialized. */
  address: string | null
}

/** Serialized responses, kept as long as the device or the device list that they show. */
class ResponseCache {
  readonly #responses = new WeakMap<object, Map<string, CachedResponse>>()

  /** The body; its tag is set in the header, so that it is computed once. @param address as `CachedResponse.address`. */
  get(
    reply: FastifyReply,
    source: object,
    name: string,
    serialize: () => string,
    address: string | null = null,
  ): string | Buffer {
    const responses = this.#responses.get(source) ?? new Map<string, CachedResponse>()
    let response = responses.get(name)
    if (response?.address !== address) {
      response = serialized(serialize(), address)
      if (responses.has(name) || responses.size < maxResponses) {
        this.#responses.set(source, responses.set(name, response))
      }
    }
    reply.header('etag', response.tag)
    return response.body
  }
}

/** A buffer is compressed once; a short string is sent faster. */
const serialized = (text: string, address: string | null): CachedResponse => ({
  body: isCompressible(text) ? Buffer.from(text) : text,
  tag: entityTag(text),
  address,
})

const config = { servesStale: true }

const hasPosition = (device: Device): device is Device & { lat: number; lng: number } =>
  device.lat !== null && device.lng !== null

/** The address that the platform sent, else that of the position. Without lookups it costs no promise. */
const addressOf = (account: Account, device: Device): string | null | Promise<string | null> =>
  device.address ?? (hasPosition(device) ? account.address(device) : null)

const knownAddress = (account: Account, device: Device): string | null =>
  device.address ?? (hasPosition(device) ? account.knownAddress(device) : null)

const withAddress = (device: Device, address: string | null): Device =>
  device.address === address ? device : { ...device, address }

export function devices(app: App, options: LastKnownOptions): void {
  const cache = new ResponseCache()
  const lastKnown = new LastKnown(options)
  app.get(
    '/devices',
    {
      config,
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
      const found = await lastKnown.fetch(request)
      const { fleet: devices } = found
      const select = (): List<Device> => {
        const isFiltered = status !== undefined || ids !== undefined || updatedSince !== undefined
        const selected = isFiltered ? devices.where({ status, ids, updatedSince }) : devices
        reply.reserve(devices.bytesOf(Math.min(limit, Math.max(0, selected.length - offset))))
        const list = page(selected, { limit, offset })
        const data = list.data.map((device) => withAddress(device, knownAddress(request.account, device)))
        return sendList(reply, format, { ...list, data }, toDeviceFeature)
      }
      lastKnown.showAge(reply, found)
      const isCached = limit <= maxCachedLimit && ids === undefined && updatedSince === undefined
      const name = `${format} ${limit} ${offset} ${status ?? ''}`
      if (!isCached) return select()
      const serialize = (): string =>
        String(reply.serializeInput(select(), '200', format === 'json' ? 'application/json' : geoJson))
      return sendJson<List<Device>>(reply, cache.get(reply, devices, name, serialize), mediaTypes[format])
    },
  )

  app.get(
    '/devices/:id',
    {
      config,
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
      const { device, found } = await lastKnown.fetchDevice(request, request.params.id)
      lastKnown.showAge(reply, found)
      const address = await addressOf(request.account, device)
      const serialize = (): string => String(reply.serialize(withAddress(device, address)))
      return sendJson<Device>(reply, cache.get(reply, device, 'device', serialize, address))
    },
  )

  app.get(
    '/devices/:id/location',
    {
      config,
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
      const { device, found } = await lastKnown.fetchDevice(request, request.params.id)
      const address = await addressOf(request.account, device)
      const serialize = (): string => {
        const location = toLocation(withAddress(device, address))
        if (!location) throw new ApiError('no_location')
        return String(reply.serialize(location))
      }
      const json = cache.get(reply, device, 'location', serialize, address)
      lastKnown.showAge(reply, found)
      return sendJson<Location>(reply, json)
    },
  )
}
