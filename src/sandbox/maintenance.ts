/** Pure: which maintenance services a vehicle has, and when each was last done and is next due. */
import type { Account } from './account.js'
import type { Fleet } from './fleet.js'
import { roll } from './random.js'
import { lastReports } from './reports.js'

export type Service = {
  id: number
  index: number
  name: string
  by: 'odometer' | 'engine_hours' | 'days'
  interval: number
  /** For `days` these are days since 1970-01-01 on the account's clock. */
  lastService: number
  current: number
}

const PLANS: { name: string; by: Service['by']; interval: number; every: number; rest: number }[] = [
  { name: 'Oil and filters', by: 'odometer', interval: 15_000, every: 3, rest: 0 },
  { name: 'Tyres', by: 'odometer', interval: 40_000, every: 7, rest: 2 },
  { name: 'Engine check', by: 'engine_hours', interval: 500, every: 5, rest: 1 },
  { name: 'Inspection', by: 'days', interval: 365, every: 4, rest: 3 },
  { name: 'Insurance', by: 'days', interval: 180, every: 10, rest: 4 },
]

/** The plans of a vehicle; they repeat after the least common multiple of all `every`. */
const PLANNED = Array.from({ length: 420 }, (_, index) =>
  PLANS.map((plan, n) => ({ ...plan, n })).filter(({ every, rest }) => index % every === rest),
)
const planned = (index: number) => PLANNED[index % PLANNED.length]!

/** How many services the vehicles have together, and the index of the vehicle of each, in order. */
export function serviceOwners(account: Account): number[] {
  return Array.from({ length: account.devices }, (_, index) => planned(index).map(() => index)).flat()
}

/** A service is done when it is due or, in the workshops of the sandbox, up to a third of its interval late. */
export function servicesOf(account: Account, fleet: Fleet, index: number, instant: number): Service[] {
  const plans = planned(index)
  if (plans.length === 0) return []
  const report = lastReports(fleet, index, instant, 1)[0]
  const counters = {
    odometer: report?.km ?? 0,
    engine_hours: (report?.engineSeconds ?? 0) / 3600,
    days: Math.floor((instant + account.zoneSeconds) / 86_400),
  }
  return plans.map(({ n, name, by, interval }) => {
    const cycle = Math.round(interval * (0.97 + 0.36 * roll(account.region.seed, 14, index, n)))
    const phase = Math.floor(cycle * roll(account.region.seed, 15, index, n))
    const current = by === 'days' ? counters.days : Math.round(counters[by] * 10) / 10
    const lastService = Math.max(0, Math.floor((current - phase) / cycle) * cycle + phase)
    return { id: account.userId * 1_000_000 + index * 8 + n, index, name, by, interval, lastService, current }
  })
}

/** What is left until due, in the unit of `by`; negative when overdue. */
export function leftOf(service: Service): number {
  return Math.round((service.lastService + service.interval - service.current) * 10) / 10
}
