/** The maintenance services of a fleet, and their rows in the platform's lists. */
import type { Account } from './account.js'
import { roll } from './random.js'
import { dayOf, lastReport } from './reports.js'
import { rawTime } from './wall-clock.js'

/** Each plan covers the devices whose index modulo `every` is `rest`. */
const plans = [
  { n: 0, name: 'Oil and filters', by: 'odometer', interval: 15_000, every: 3, rest: 0 },
  { n: 1, name: 'Tyres', by: 'odometer', interval: 40_000, every: 7, rest: 2 },
  { n: 2, name: 'Engine check', by: 'engine_hours', interval: 500, every: 5, rest: 1 },
  { n: 3, name: 'Inspection', by: 'days', interval: 365, every: 4, rest: 3 },
  { n: 4, name: 'Insurance', by: 'days', interval: 180, every: 10, rest: 4 },
] as const

type Plan = (typeof plans)[number]
/** For `days`, `lastService` is a day since 1970-01-01 on the account's clock. `left`, in the unit of `by`, is negative when overdue. */
type Service = ReturnType<typeof serviceAt>
export type Planned = { index: number; plan: Plan }

export function plannedOf(index: number): Planned[] {
  return plans.filter(({ every, rest }) => index % every === rest).map((plan) => ({ index, plan }))
}

/** By the device's last report. A service is repeated after 97 to 133 % of its interval: mostly late, up to a third. */
export function serviceAt(account: Account, { index, plan }: Planned, now: number) {
  const { n, by, interval } = plan
  const report = lastReport(account, index, now)
  const counters = { odometer: report?.km ?? 0, engine_hours: (report?.engineSeconds ?? 0) / 3600 }
  const current = by === 'days' ? dayOf(account, now) : Math.round(counters[by] * 10) / 10
  const cycle = Math.round(interval * (0.97 + 0.36 * roll(account.seed, 14, index, n)))
  const phase = Math.floor(cycle * roll(account.seed, 15, index, n))
  const lastService = Math.max(0, Math.floor((current - phase) / cycle) * cycle + phase)
  const left = Math.round((lastService + interval - current) * 10) / 10
  return { ...plan, id: account.userId * 1_000_000 + index * 8 + n, index, lastService, left }
}

const titles = { odometer: 'Odometer', engine_hours: 'Engine hours', days: 'Days' }
const units = { odometer: ' km', engine_hours: ' h', days: '' }
const remindBefore = { odometer: 500, engine_hours: 25, days: 10 }
const date = (day: number) => rawTime(day * 86_400, 0).slice(0, 10)

/** The display text in a row of a device. */
export function serviceText({ by, left }: Service): string {
  if (left < 0) return `${titles[by]} Expired`
  return by === 'days' ? `${left}d.` : `${titles[by]} Left (${left}${units[by]})`
}

export const isExpiring = ({ by, left }: Service) => left <= remindBefore[by]

/** A full row; flags are numbers here and booleans in the newer `/services`. */
export function serviceRow<T>(account: Account, service: Service, flag: (value: boolean) => T) {
  const { id, index, name, by, interval, lastService } = service
  const due = lastService + interval
  const remind = due - remindBefore[by]
  const values =
    by === 'days'
      ? { last_service: date(lastService), expires: '0', expires_date: date(due), remind: 0, remind_date: date(remind) }
      : { last_service: String(lastService), expires: String(due), expires_date: null, remind, remind_date: null }
  return {
    id,
    user_id: account.userId,
    device_id: account.firstDeviceId + index,
    name,
    expiration_by: by,
    interval,
    trigger_event_left: remindBefore[by],
    renew_after_expiration: flag(false),
    event_sent: flag(isExpiring(service)),
    expired: flag(service.left < 0),
    email: '',
    mobile_phone: '',
    description: '',
    ...values,
  }
}
