/** The documented filters of `get_devices` and `get_devices_latest`. */
import { lastReport } from './reports.js'
import { type ActionRequest, indexOf } from './request.js'
import { connectionOf, deviceData } from './wire/device.js'

const searched = ['imei', 'sim_number', 'vin', 'plate_number', 'registration_number', 'object_owner'] as const
const exact = ['device_model', 'group_id', ...searched] as const

type Filter = (index: number) => boolean

/** The devices that pass all filters of a request; `filters[id]` is the same as `id`. */
export function matchingDevices({ account, now, query }: ActionRequest): number[] {
  const values = (name: string) => [...query.getAll(name), ...query.getAll(`filters[${name}]`)]
  const connection = (index: number) => connectionOf(lastReport(account, index, now), index, now)
  const isSilent = (index: number, minutes: string) => now - connection(index).ack > Number(minutes) * 60
  const filters: Filter[] = []
  const addFilter = (name: string, passes: (index: number, wanted: string[]) => boolean): void => {
    const wanted = values(name)
    if (wanted.length > 0) filters.push((index) => passes(index, wanted))
  }
  const search = (index: number, phrases: string[]) => {
    const data = deviceData(account, index)
    const texts = [data.name, ...searched.map((name) => data[name])].map((text) => text.toLowerCase())
    return phrases.every((phrase) => texts.some((text) => text.includes(phrase.toLowerCase())))
  }
  for (const name of exact)
    addFilter(name, (index, wanted) => wanted.includes(String(deviceData(account, index)[name])))
  for (const name of ['s', 'search_phrase']) addFilter(name, search)
  addFilter('status', (index, wanted) => wanted.includes(connection(index).online))
  addFilter('online', (index, wanted) => wanted.every((minutes) => !isSilent(index, minutes)))
  addFilter('offline', (index, wanted) => wanted.every((minutes) => isSilent(index, minutes)))
  const ids = values('id').map((id) => indexOf(account, id))
  const all = Array.from({ length: account.devices }, (_, index) => index)
  const chosen = ids.length > 0 ? all.filter((index) => ids.includes(index)) : all
  return chosen.filter((index) => filters.every((passes) => passes(index)))
}
