/** `GET /v1/services`: maintenance services, from the newest platform action that is available. */
import type { Fleet, ServiceSource } from '../devices/fleet.js'
import type { App } from '../http/types.js'
import { BoundedMap } from '../lib/bounded-map.js'
import type { Account } from '../platform/account.js'
import { changedError } from '../platform/changed.js'
import { isUnsupported } from '../platform/errors.js'
import type { WireService, WireSetup } from '../platform/wire.js'
import { writesDayFirst } from '../resources/device.js'
import { ListOf, page } from '../resources/list.js'
import {
  MaintenanceService,
  type ServiceDevice,
  ServicesQuery,
  serviceDevice,
  toMaintenanceService,
  unitOf,
} from '../resources/maintenance.js'
import { id } from '../resources/units.js'
import { today, toZone } from '../resources/zone.js'
import { charsIn, identified, type Needs, sendRows } from './query.js'

/** Estimated heap of a row, and of each character of its texts. */
const [rowBytes, rowCharBytes] = [250, 2]

/** The id of a service's device; 0 without one. */
const deviceOf = (row: WireService): number => id(row.device_id) ?? 0

export function services(app: App, { deviceCache, translate, clock }: Needs): void {
  const listServicesSchema = {
    operationId: 'listServices',
    summary: 'List maintenance services',
    description: 'All maintenance services and when each is due: by odometer (km), engine hours (h) or days.',
    tags: ['Maintenance services'],
    querystring: ServicesQuery,
    response: { 200: ListOf(MaintenanceService) },
  }
  app.get('/services', { schema: listServicesSchema }, async (request, reply) => {
    const { device_id: deviceId, ...paging } = request.query
    const { account } = request
    const fleet = await deviceCache.fetch(account)
    // No platform call for a device of another account.
    if (deviceId !== undefined && !fleet.has(deviceId)) return page([], paging)
    const rows = await rowsOf(account, fleet, deviceId)
    const ordered = translate('services', rows, identified)
    const requested = ordered.filter(({ row }) => deviceId === undefined || id(row.device_id) === deviceId)
    const isNeeded = requested.some(({ row }) => needsSetup(row, fleet))
    // They wait for it, and nothing else counts them.
    if (isNeeded) reply.reserve(rows.reduce((sum, row) => sum + rowBytes + rowCharBytes * charsIn(row), 0))
    const setup = isNeeded ? await setupOf(account) : undefined
    const zone = setup ? toZone(setup) : { offsetMinutes: 0 }
    const facts = {
      setup,
      zone,
      today: today(clock(), zone),
      dayFirst: requested.some(({ row }) => unitOf(row) === 'days') ? dayFirstIn(fleet) : undefined,
    }
    // The services of a device come one after another: each row is read once, and one is kept.
    const devices = new BoundedMap<number, ServiceDevice | undefined>(1)
    const toService = (row: WireService, serviceId: number): MaintenanceService => {
      const owner = deviceOf(row)
      if (!devices.has(owner)) devices.set(owner, serviceDevice(fleet.row(owner)))
      return toMaintenanceService(row, serviceId, devices.get(owner), facts)
    }
    return sendRows(reply, requested, paging, toService, { deviceOf })
  })
}

/** Rows of the whole account; else those in the device list, and calls for each device whose services are not all there (platform.md 8.1). */
async function rowsOf(account: Account, fleet: Fleet, deviceId: number | undefined): Promise<WireService[]> {
  const all = await account.services()
  if (all) return all
  const having = (source: ServiceSource): Set<number> => new Set(fleet.withServices(source))
  const [listed, shown, withList] = [having('listed'), having('shown'), having('list')]
  const requested = fleet.ids.filter((id) => deviceId === undefined || id === deviceId)
  // If some rows show services, only their devices have any. If none does, rows without a list may merely omit it.
  if (listed.size + shown.size === 0) return account.deviceServices(requested.filter((id) => !withList.has(id)))
  const rows = requested
    .filter((id) => listed.has(id))
    .flatMap((device_id) => (fleet.row(device_id)?.device_data.services ?? []).map((row) => ({ ...row, device_id })))
  // One device may have a bad row only.
  if (deviceId === undefined && rows.length > 0 && !rows.some((row) => id(row.id)))
    throw changedError('get_devices', 'id in any service')
  return [...rows, ...(await account.deviceServices(requested.filter((id) => shown.has(id) && !listed.has(id))))]
}

/** Whether a service needs the account's clock, or its unit of distance. */
function needsSetup(row: WireService, fleet: Fleet): boolean {
  const unit = unitOf(row)
  return unit === 'days' || (unit === 'odometer' && !fleet.has(deviceOf(row)))
}

/** Devices to read for the order of day and month: the first one that has sent data shows it, unless on a day such as 5 May. */
const maxOrderReads = 100

/** Whether the account's dates have the day before the month; undefined if its devices do not show it. */
function dayFirstIn(fleet: Fleet): boolean | undefined {
  for (const id of fleet.ids.slice(0, maxOrderReads)) {
    const row = fleet.row(id)
    const dayFirst = row && writesDayFirst(row)
    if (dayFirst !== undefined) return dayFirst
  }
  return undefined
}

/** Undefined where the account may not read its setup, or the platform has none. */
const setupOf = (account: Account): Promise<WireSetup | undefined> =>
  account.setup().catch((error: unknown) => {
    if (isUnsupported(error)) return undefined
    throw error
  })
