/** The documented filters of `get_devices` and `get_devices_latest`. */
import { lastReport } from './reports.js'
import { type ActionRequest, indexOf } from './request.js'
import { connectionOf, deviceData } from './wire/device.js'

const searched = ['imei', 'sim_number', 'vin', 'plate_number', 'registration_number', 'object_owner'] as const
const exact = ['device_model', 'group_id', 'msisdn', ...searched] as const

type Passes = (index: number, wanted: string[]) => boolean

/** The devices that pass all filters of a request; `filters[id]` is the same as `id`. */
export function matchingDevices({ account, now, query }: ActionRequest): number[] {
  const connection = (index: number) => connectionOf(lastReport(account, index, now), index, now)
  const isSilent = (index: number, minutes: string) => now - connection(index).ack > Number(minutes) * 60
  const search: Passes = (index, phrases) => {
    const data = deviceData(account, index)
    const texts = [data.name, ...searched.map((name) => data[name])].map((text) => text.toLowerCase())
    return phrases.every((phrase) => texts.some((text) => text.includes(phrase.toLowerCase())))
  }
  const tests: Record<string, Passes> = {
    id: (index, ids) => ids.some((id) => indexOf(account, id) === index),
    s: search,
    search_phrase: search,
    status: (index, words) => words.includes(connection(index).online),
    online: (index, all) => all.every((minutes) => !isSilent(index, minutes)),
    offline: (index, all) => all.every((minutes) => isSilent(index, minutes)),
  }
  for (const name of exact) tests[name] = (index, wanted) => wanted.includes(String(deviceData(account, index)[name]))
  const sent = Object.entries(tests).flatMap(([name, passes]) => {
    const wanted = [...query.getAll(name), ...query.getAll(`filters[${name}]`)]
    return wanted.length > 0 ? [{ passes, wanted }] : []
  })
  const all = Array.from({ length: account.devices }, (_, index) => index)
  return all.filter((index) => sent.every(({ passes, wanted }) => passes(index, wanted)))
}
