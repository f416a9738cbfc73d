/** Pure: maintenance services as the platform's three service lists show them (`platform.md` 8). */
import type { Account } from '../account.js'
import { rawTime } from '../clock.js'
import { leftOf, type Service } from '../maintenance.js'

const TITLES = { odometer: 'Odometer', engine_hours: 'Engine hours', days: 'Days' }
const UNITS = { odometer: ' km', engine_hours: ' h', days: '' }
const REMIND_BEFORE = { odometer: 500, engine_hours: 25, days: 10 }
const date = (day: number) => rawTime(day * 86_400, 0).slice(0, 10)

/** The display text of a device's list. */
export function serviceText(service: Service): { value: string; expiring: boolean } {
  const left = leftOf(service)
  const expiring = left <= REMIND_BEFORE[service.by]
  if (left < 0) return { value: `${TITLES[service.by]} Expired`, expiring }
  return {
    value: service.by === 'days' ? `${left}d.` : `${TITLES[service.by]} Left (${left}${UNITS[service.by]})`,
    expiring,
  }
}

/** A full row with numbers as flags; `/services` writes booleans instead. */
export function serviceRow(account: Account, service: Service) {
  const { by, interval, lastService } = service
  const due = lastService + interval
  const remind = due - REMIND_BEFORE[by]
  const days = by === 'days'
  return {
    id: service.id,
    user_id: account.userId,
    device_id: account.firstId + service.index,
    name: service.name,
    expiration_by: by,
    interval,
    last_service: days ? date(lastService) : String(lastService),
    trigger_event_left: REMIND_BEFORE[by],
    renew_after_expiration: 0,
    expires: days ? '0' : String(due),
    expires_date: days ? date(due) : null,
    remind: days ? 0 : remind,
    remind_date: days ? date(remind) : null,
    event_sent: leftOf(service) <= REMIND_BEFORE[by] ? 1 : 0,
    expired: leftOf(service) < 0 ? 1 : 0,
    email: '',
    mobile_phone: '',
    description: '',
  }
}

/** A row of the older `get_services`, where `expires` is a text for people. */
export function spokenServiceRow(account: Account, service: Service) {
  return { ...serviceRow(account, service), expires: serviceText(service).value }
}

/** A row of the newer `/services`. */
export function newerServiceRow(account: Account, service: Service) {
  const row = serviceRow(account, service)
  const flags = { renew_after_expiration: false, event_sent: row.event_sent === 1, expired: row.expired === 1 }
  return { ...row, ...flags }
}
