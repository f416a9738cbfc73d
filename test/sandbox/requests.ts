/** What the tests of the sandbox share: requests of its accounts, and how to read its responses. */
import type { Test } from 'tap'
import type { serviceRow } from '../../src/sandbox/maintenance.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import type { deviceRow } from '../../src/sandbox/wire/device.js'
import type { eventRow } from '../../src/sandbox/wire/records.js'
import { sandbox } from '../helper.js'

export type Device = ReturnType<typeof deviceRow>
export type Service = ReturnType<typeof serviceRow<number | boolean>>
export type Event = ReturnType<typeof eventRow>
type Point = { raw_time: string } & Record<'id' | 'device_id' | 'lat' | 'lng' | 'speed' | 'course' | 'distance', number>
type Amounts = Record<'status' | 'distance' | 'time_seconds' | 'top_speed' | 'average_speed', number>
type Group = Amounts & { raw_time: string; items: Point[] }
type Totals = Record<'distance_sum' | 'top_speed' | 'move_duration' | 'stop_duration', string>
export type History = Totals & { items: Group[] }
export type Page<T> = { items: { total: number; last_page: number; data: T[] } }

export const DAY = 86_400
export const NOON = Date.UTC(2026, 4, 13, 11, 0, 0) / 1000
export const [demo, other] = sandboxAccounts()

export async function open(t: Test, devices = 50) {
  const clock = { at: NOON }
  const { url: base } = await sandbox(t, { devices, clock: () => clock.at * 1000 })
  const send = (path: string, hash = demo.hash, init: RequestInit = {}) => {
    const url = new URL(`${base}/${path}`)
    if (hash) url.searchParams.set('user_api_hash', hash)
    return fetch(url, init)
  }
  const get = async <T>(path: string, account = demo) => (await (await send(path, account.hash)).json()) as T
  const devicesOf = async (account = demo, query = '') =>
    (await get<{ items: Device[] }[]>(`get_devices${query}`, account)).flatMap((group) => group.items)
  const history = (id: number, from: number, to: number, account = demo) => {
    const [a, b] = [wall(from, account).split(' '), wall(to, account).split(' ')]
    const range = `from_date=${a[0]}&from_time=${a[1]}&to_date=${b[0]}&to_time=${b[1]}`
    return get<History>(`get_history?device_id=${id}&${range}`, account)
  }
  /** The rows of all pages of a list. `items` is what holds the rows and the number of the last page. */
  const pages = async <T, L>(path: string, items: (body: L) => { data: T[]; last_page: number }): Promise<T[]> => {
    const rows: T[] = []
    for (let page = 1, last = 1; page <= last; page += 1) {
      const { data, last_page } = items(await get<L>(`${path}page=${page}`))
      rows.push(...data)
      last = last_page
    }
    return rows
  }
  return { clock, send, get, devicesOf, history, pages }
}

export const wall = (at: number, account = demo) =>
  new Date((at + account.zoneSeconds) * 1000).toISOString().slice(0, 19).replace('T', ' ')
export const unix = (text: string) => Date.parse(`${text.replace(' ', 'T')}Z`) / 1000 - demo.zoneSeconds
export const pointsOf = (history: History) =>
  history.items.filter(({ status }) => status === 1 || status === 2).flatMap((group) => group.items)
export const secondsOf = (text: string) =>
  [...text.matchAll(/(\d+)(h|min|s)/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * { h: 3600, min: 60, s: 1 }[unit!]!,
    0,
  )

export function metres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const rad = Math.PI / 180
  const x = (b.lng - a.lng) * Math.cos(((a.lat + b.lat) / 2) * rad)
  return Math.hypot(x, b.lat - a.lat) * rad * 6_371_000
}
