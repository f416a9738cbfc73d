/** `GET /v1/devices`, `/v1/devices/:id` and `/v1/devices/:id/location`. Knows no platform. */

import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { DeviceCache } from '../devices/device-cache.js'
import type { Fleet } from '../devices/fleet.js'
import { ApiError } from '../errors.js'
import type { App } from '../http/types.js'
import { Device, DevicesQuery } from '../resources/device.js'
import { type List, ListOf, page } from '../resources/list.js'
import { Location, toLocation } from '../resources/location.js'
import { deviceOf, PathId, queryOf } from './query.js'

const DeviceId = Type.Object({ id: PathId('Device id', 1001) })

const pageOf = (fleet: Fleet, { status, ...wanted }: DevicesQuery): List<Device> =>
  page(status === undefined ? fleet : fleet.withStatus(status), wanted)

/** Pages kept per list, and the longest that is kept: a few pages are asked for again and again, and a long one is rare. */
const mostPages = 4
const longestKept = 50

/** Pages as they were written by the response schema and go over the wire, for as long as the list they are cut from. */
class WrittenPages {
  readonly #pages = new WeakMap<Fleet, Map<string, Buffer>>()

  of(fleet: Fleet, { limit = 0, offset = 0, status }: DevicesQuery, write: () => string): Buffer | string {
    if (limit > longestKept) return write()
    const name = `${limit} ${offset} ${status ?? ''}`
    const pages = this.#pages.get(fleet) ?? new Map<string, Buffer>()
    this.#pages.set(fleet, pages)
    const known = pages.get(name)
    if (known !== undefined) return known
    const bytes = Buffer.from(write())
    if (pages.size < mostPages) pages.set(name, bytes)
    return bytes
  }
}

/** Devices and locations as they were written by their response schema, for as long as the device is remembered. */
class Written {
  readonly #texts = new WeakMap<Device, string>()

  of(device: Device, write: () => string): string {
    let text = this.#texts.get(device)
    if (text === undefined) {
      text = write()
      this.#texts.set(device, text)
    }
    return text
  }
}

/** What is JSON already; typed as what it says. */
function sent<T>(reply: FastifyReply, json: Buffer | string): T {
  reply.type('application/json; charset=utf-8')
  return json as unknown as T
}

export function devices(app: App, { positions }: { positions: DeviceCache }): void {
  const written = new WrittenPages()
  const devicesWritten = new Written()
  const locationsWritten = new Written()
  app.get(
    '/devices',
    {
      schema: {
        operationId: 'listDevices',
        summary: 'List devices',
        description: 'All devices of the account by id, with their last known state.',
        tags: ['Devices'],
        querystring: DevicesQuery,
        response: { 200: ListOf(Device) },
      },
    },
    async (request, reply) => {
      const query = queryOf(DevicesQuery, request)
      const fleet = await positions.fetchAll(request.account)
      return sent<List<Device>>(
        reply,
        written.of(fleet, query, () => String(reply.serialize(pageOf(fleet, query)))),
      )
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
      const device = await deviceOf(positions, request.account, request.params.id)
      return sent<Device>(
        reply,
        devicesWritten.of(device, () => String(reply.serialize(device))),
      )
    },
  )

  app.get(
    '/devices/:id/location',
    {
      schema: {
        operationId: 'getDeviceLocation',
        summary: 'Get the last position of a device',
        description: 'Only where and how fast; a device that never had a position is 404 `no_location`.',
        tags: ['Devices'],
        params: DeviceId,
        response: { 200: Location },
      },
    },
    async (request, reply) => {
      const device = await deviceOf(positions, request.account, request.params.id)
      const write = (): string => {
        const location = toLocation(device)
        if (!location) throw new ApiError('no_location')
        return String(reply.serialize(location))
      }
      return sent<Location>(reply, locationsWritten.of(device, write))
    },
  )
}
