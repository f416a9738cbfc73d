/** `GET /v1/devices`, `/v1/devices/:id` and `/v1/devices/:id/location`. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Fleet } from '../devices/fleet.js'
import { ApiError } from '../errors.js'
import { tagOfHash } from '../http/body-hook.js'
import { isCompressible } from '../http/compression.js'
import type { App } from '../http/types.js'
import { Device, DevicesQuery, maxIds, toDeviceFeature } from '../resources/device.js'
import { toCollection } from '../resources/geojson.js'
import { type List, ListOf, page } from '../resources/list.js'
import { Location, toLocation } from '../resources/location.js'
import { id } from '../resources/units.js'
import { lastKnown } from './last-known.js'
import { type Needs, notFound, PathId, sendJson } from './query.js'

const DeviceId = Type.Object({ id: PathId('Device id', 1001) })

/** Memory for the devices of one response: more of it would hold the event loop for over half a second. */
const maxPageBytes = 32 * 1024 * 1024

/** Responses to cache per device or device list. */
const maxResponses = 4

/** Durations that grow while a device stands still: only their start and their end change the entity tag. A quote within a text is escaped. */
const counting = /_seconds":[1-9]\d*/

/** The tag of a text with all these durations alike. A copy of it would take 1.5 ms for 500 devices, a tenth of their response. */
function tagOf(json: string): string {
  const hash = createHash('sha256')
  for (const part of json.split(counting)) hash.update(part).update('_seconds":1')
  return tagOfHash(hash.digest('base64url'))
}

type Responses = Map<string | undefined, { body: string | Buffer; tag: string }>

/** Caches serialized responses by name, as long as the device or list that they show. The function sets the `ETag` header. */
function responseCache() {
  const known = new WeakMap<object, Responses>()
  /** @param maxBytes memory for the responses of one source. */
  return (
    reply: FastifyReply,
    source: object,
    name: string | undefined,
    serialize: () => string,
    maxBytes = Number.POSITIVE_INFINITY,
  ) => {
    const responses: Responses = known.get(source) ?? new Map()
    let response = responses.get(name)
    if (!response) {
      const text = serialize()
      // A buffer is compressed once; a short string is sent faster.
      response = { body: isCompressible(text) ? Buffer.from(text) : text, tag: tagOf(text) }
      const bytes = [...responses.values(), response].reduce((sum, { body }) => sum + body.length, 0)
      if (name !== undefined && responses.size < maxResponses && bytes <= maxBytes)
        known.set(source, responses.set(name, response))
    }
    reply.header('etag', response.tag)
    return response.body
  }
}

type Position = { lat: number; lng: number }

/** The address that the platform sent, else that of the position. Without lookups it costs no promise. */
const addressOf = <T>({ address, lat, lng }: Device, find: (position: Position) => T): T | string | null =>
  address ?? (lat === null || lng === null ? null : find({ lat, lng }))

const withAddress = (device: Device, address: string | null): Device =>
  device.address === address ? device : { ...device, address }

const listDevicesSchema = {
  operationId: 'listDevices',
  summary: 'List devices',
  description:
    'The devices of the account by id, with their last known state. As GeoJSON, a page leaves out devices without a position, but they still count.',
  tags: ['Devices'],
  querystring: DevicesQuery,
  response: { 200: ListOf(Device, 50) },
}

const getDeviceSchema = {
  operationId: 'getDevice',
  summary: 'Get a device',
  description: 'One device with its last known state, without the list envelope.',
  tags: ['Devices'],
  params: DeviceId,
  response: { 200: Device },
}

const getDeviceLocationSchema = {
  operationId: 'getDeviceLocation',
  summary: 'Get the last position of a device',
  description: 'Only position and movement. A device that never had a position is 404 `no_location`.',
  tags: ['Devices'],
  params: DeviceId,
  response: { 200: Location },
}

const config = { servesStale: true }

export function devices(app: App, needs: Needs): void {
  const known = lastKnown(needs)
  app.get('/devices', { config, schema: listDevicesSchema }, listDevices(known))
  const getDevice = oneDevice(known, (device) => device)
  app.get('/devices/:id', { config, schema: getDeviceSchema }, getDevice)
  app.get('/devices/:id/location', { config, schema: getDeviceLocationSchema }, oneDevice(known, toKnownLocation))
}

type LastKnown = ReturnType<typeof lastKnown>
type ListRequest = FastifyRequest<{ Querystring: Static<typeof DevicesQuery> }>

function listDevices({ fetch, showAge }: LastKnown) {
  const cached = responseCache()
  return async (request: ListRequest, reply: FastifyReply): Promise<List<Device>> => {
    const { status, ids, updated_since: updatedSince, format = 'json', offset = 0 } = request.query
    const limit = request.query.limit ?? (ids === undefined ? 50 : maxIds)
    const found = await fetch(request)
    const { fleet } = found
    showAge(reply, found)
    // Other filters rarely repeat, so their responses are not kept.
    const isCached = ids === undefined && updatedSince === undefined
    const name = isCached ? `${format} ${limit} ${offset} ${status ?? ''}` : undefined
    const serialize = (): string => {
      const list = pageOf(fleet, request, reply, limit)
      return format === 'json'
        ? String(reply.serializeInput(list, '200'))
        : JSON.stringify(toCollection(list, toDeviceFeature))
    }
    const json = cached(reply, fleet, name, serialize, fleet.maxResponseBytes)
    return sendJson<List<Device>>(reply, json, format)
  }
}

/** The requested devices, with the addresses that are known already. Memory is reserved before they are read. */
function pageOf(fleet: Fleet, { account, query }: ListRequest, reply: FastifyReply, limit: number): List<Device> {
  const { status, ids, updated_since: updatedSince, offset = 0 } = query
  const isFiltered = status !== undefined || ids !== undefined || updatedSince !== undefined
  const selected = isFiltered ? fleet.where({ status, ids, updatedSince }) : fleet
  const bytes = fleet.bytesOf(Math.min(limit, Math.max(0, selected.length - offset)))
  reply.reserve(bytes > maxPageBytes ? Number.POSITIVE_INFINITY : bytes)
  const list = page(selected, { limit, offset })
  const known = (position: Position): string | null => account.knownAddress(position)
  const data = list.data.map((device) => withAddress(device, addressOf(device, known)))
  return { ...list, data }
}

/** A handler that responds with what `toBody` makes of the device with its address. */
function oneDevice<T>({ fetch, showAge }: LastKnown, toBody: (device: Device) => T) {
  const cached = responseCache()
  return async (request: FastifyRequest<{ Params: { id: string } }>, reply: FastifyReply): Promise<T> => {
    const sent = request.params.id
    const deviceId = id(sent)
    // Unknown, foreign and malformed ids alike.
    if (deviceId === undefined) throw notFound('device', sent)
    const found = await fetch(request, deviceId)
    const device = found.fleet.get(deviceId)
    if (!device) throw notFound('device', sent)
    const address = await addressOf(device, (position) => request.account.address(position))
    const serialize = (): string => String(reply.serialize(toBody(withAddress(device, address))))
    // Kept by its address, which may be found later than the device.
    const json = cached(reply, device, address ?? '', serialize)
    showAge(reply, found)
    return sendJson<T>(reply, json)
  }
}

function toKnownLocation(device: Device): Location {
  const location = toLocation(device)
  if (!location) throw new ApiError('no_location')
  return location
}
