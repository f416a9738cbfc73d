/** `GET /v1/services`: maintenance services, from the newest way of asking the platform that it knows. */

import type { DeviceCache } from '../devices/device-cache.js'
import type { Fleet } from '../devices/fleet.js'
import type { App } from '../http/types.js'
import type { Account } from '../platform/account.js'
import { PlatformUnavailable } from '../platform/errors.js'
import type { WireService } from '../platform/wire.js'
import { ListOf, page } from '../resources/list.js'
import { MaintenanceService, ServicesQuery, toMaintenanceService } from '../resources/maintenance.js'
import { id } from '../resources/units.js'
import { today, toZone } from '../resources/zone.js'
import { byId, queryOf, type Translate } from './query.js'

/** Calls under way at once where services must be asked for device by device. */
const concurrency = 4

export interface ServicesNeeds {
  positions: DeviceCache
  translate: Translate
  clock: () => number
}

export function services(app: App, { positions, translate, clock }: ServicesNeeds): void {
  app.get(
    '/services',
    {
      schema: {
        operationId: 'listServices',
        summary: 'List maintenance services',
        description: 'What is due when: by odometer (km), engine hours (h) or days.',
        tags: ['Maintenance services'],
        querystring: ServicesQuery,
        response: { 200: ListOf(MaintenanceService) },
      },
    },
    async (request) => {
      const { device_id: deviceId, ...wanted } = queryOf(ServicesQuery, request)
      const { account } = request
      const fleet = await positions.fetchAll(account)
      // A device that is not the account's has no services here, and the platform is not asked about it.
      if (deviceId !== undefined && !fleet.has(deviceId)) return page([], wanted)
      const rows = await rowsOf(account, fleet, deviceId)
      const day = await todayOf(account, rows, clock())
      const items = translate('services', rows, (row) => {
        const owner = id(row.device_id)
        return toMaintenanceService(row, owner === undefined ? undefined : fleet.row(owner), day)
      })
      return page(items.filter((item) => deviceId === undefined || item.device_id === deviceId).sort(byId), wanted)
    },
  )
}

/** Account-wide; else as they stand in the device list; else device by device (platform.md 8.1). */
async function rowsOf(account: Account, fleet: Fleet, deviceId: number | undefined): Promise<WireService[]> {
  const all = await account.services()
  if (all) return all
  const isWanted = (id: number): boolean => deviceId === undefined || id === deviceId
  const listed = fleet.withServices('listed').filter(isWanted)
  const rows = listed.flatMap((id) => withDevice(fleet.row(id)?.device_data.services ?? [], id))
  if (rows.length > 0) return rows
  // Devices that show services have some; where no device shows any, an old list may just not carry them.
  const shown = fleet.withServices('shown').filter(isWanted)
  const asked = shown.length > 0 ? shown : fleet.ids.filter(isWanted)
  return (await mapped(asked, async (id) => withDevice(await account.deviceServices(id), id))).flat()
}

const withDevice = (rows: WireService[], device_id: number): WireService[] => rows.map((row) => ({ ...row, device_id }))

/** `Promise.all` over at most `concurrency` at a time. */
async function mapped<T, R>(items: T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  const queue = items.entries()
  const worker = async (): Promise<void> => {
    for (const [at, item] of queue) results[at] = await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return results
}

/** The day on the account's clock, in days since 1970; by UTC where the platform does not tell the zone, or nobody needs it. */
async function todayOf(account: Account, rows: WireService[], now: number): Promise<number> {
  const utc = { offsetMinutes: 0 }
  if (!rows.some(({ expiration_by }) => String(expiration_by).toLowerCase() === 'days')) return today(now, utc)
  try {
    return today(now, toZone(await account.setup()))
  } catch (error) {
    if (error instanceof PlatformUnavailable && error.reason === 'missing_action') return today(now, utc)
    throw error
  }
}
