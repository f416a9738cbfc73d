/** The account's zone, its clock, and ISO 8601 filters. */
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { setupIn } from '../../src/platform/wire.js'
import { dayText } from '../../src/resources/time.js'
import {
  carriesOffset,
  filterTime,
  fromWallClock,
  isDay,
  offsetMinutesAt,
  today,
  toZone,
  utcOffset,
  wallClock,
  type Zone,
} from '../../src/resources/zone.js'
import { maps } from './rows.js'

const zoneOf = (raw: unknown): Zone => toZone(setupIn(raw))

const signed = { 61: 'UTC +01:00', 62: '+ 5:30', 20: 'UTC -09:15', 21: '+14:00', 65: '+14:01' }
const labels = { ...signed, 66: 'Mars', 1: 'UTC', 2: 'UTC 00:00', 3: 'UTC \u221203:00', 45: 'UTC \u201303:00' }
const timezones = Object.entries(labels).map(([id, value]) => ({ id: Number(id), value }))
const listed = Object.entries({ 61: 60, 62: 330, 20: -555, 21: 840, 65: 120, 66: 135, 1: 0, 2: 0, 3: -180, 45: -180 })
const offsetOf = ([timezone_id, zones = []]: unknown[]) =>
  zoneOf({ item: { timezone_id }, timezones: zones }).offsetMinutes
maps("the account's offset is looked up by id, as text or number, else computed from the id", offsetOf, [
  ...listed.map(([id, offset]): [number, ...unknown[][]] => [offset, [id, timezones], [Number(id), timezones]]),
  [120, ['65']],
  [-840, [1]],
  [840, [113]],
  [0, [57], [114], [0], ['x'], [null], [undefined, [{ value: 'UTC +01:00' }]]],
])

t.test('zones and countries that are not chosen are not kept', async (t) => {
  const kept = setupIn({ item: { timezone_id: '61' }, timezones, dst_countries: timezones, user_dst: { country: 62 } })
  t.same([kept.timezones.length, kept.dst_countries.length], [2, 2])
  t.strictSame(zoneOf(null), { offsetMinutes: 0 })
})

t.test('however large a setup is, little of it is kept for an account', async (t) => {
  const long = 'x'.repeat(100_000)
  const many = Array.from({ length: 10_000 }, () => ({ id: '61', value: 'UTC +01:00' }))
  const user_dst = { ...Object.fromEntries(many.map((_, at) => [`a${at}`, 1])), [long]: 1, type: long }
  const item = { timezone_id: '61', email: long, unit_of_distance: long }
  const kept = setupIn({ item, timezones: [{ id: 61, value: long }, ...many], dst_countries: many, user_dst })
  t.ok(JSON.stringify(kept).length < 3_000)
  t.equal(zoneOf({ item, timezones: many }).offsetMinutes, 60)
})

const dst = (date_from: string, date_to: string, type = 'exact'): Zone =>
  zoneOf({ item: { timezone_id: 61 }, timezones: [], user_dst: { type, date_from, date_to } })

/** Checks what the clock shows on days at noon UTC: one hour more in summer. */
function isShown(t: Test, zone: Zone, { standard, summer }: { standard: string; summer: string }): void {
  const hour = 12 + zone.offsetMinutes / 60
  const check = (days: string, hour: number) => {
    for (const day of days.split(' ')) t.equal(wallClock(Date.parse(`${day}T12:00:00Z`), zone), `${day} ${hour}:00:00`)
  }
  check(standard, hour)
  check(summer, hour + 1)
}

t.test('one hour is added between exact daylight saving dates, in both hemispheres', async (t) => {
  const north = dst('03-29 02:00', '10-25 02:00')
  const south = dst('2025-10-05 02:00:00', '2026-04-05 02:00:00')
  const dates = dst('03-29', '10-25', ' Exact')
  const rows: [Zone, instant: string, shown: string][] = [
    [north, '2026-03-29T00:59:59Z', '2026-03-29 01:59:59'],
    [north, '2026-03-29T01:00:00Z', '2026-03-29 03:00:00'],
    [north, '2026-10-25T00:59:59Z', '2026-10-25 02:59:59'],
    [north, '2026-10-25T01:00:00Z', '2026-10-25 02:00:00'],
    [south, '2026-04-05T00:59:59Z', '2026-04-05 02:59:59'],
    [south, '2026-04-05T01:00:00Z', '2026-04-05 02:00:00'],
    [south, '2026-10-05T01:00:00Z', '2026-10-05 03:00:00'],
    [dates, '2026-03-28T22:59:59Z', '2026-03-28 23:59:59'],
    [dates, '2026-03-28T23:00:00Z', '2026-03-29 01:00:00'],
  ]
  for (const [zone, instant, shown] of rows) t.equal(wallClock(Date.parse(instant), zone), shown, instant)
  isShown(t, north, { standard: '2026-12-01 2026-03-28', summer: '2026-03-29 2026-07-01' })
  isShown(t, south, { standard: '2026-07-01', summer: '2026-01-01' })
})

const noSummer = { offsetMinutes: 60 }
const dstOf = ([from = '', to = '', type]: string[]) => dst(from, to, type)
maps('without exact and valid dates there is no daylight saving time', dstOf, [
  [noSummer, ['', ''], ['03-29 02:00', ''], ['', '10-25 02:00'], ['13-40', '03-01'], ['03-01', '02-30']],
  [noSummer, ['03-29 24:00', '10-25 02:00'], ['03-29 02:60', '10-25 02:00'], ['03-29 02:00', '10-25 02:00', 'none']],
  [noSummer, ['03-29', '10-25', 'other'], ['03-29', '10-25', 'lunar']],
])
t.equal(offsetMinutesAt(Date.parse('2026-07-01'), dst('03-29', '03-29')), 60, 'an empty summer')
t.ok(dst('02-29', '10-25').summer, '29 February is valid')

t.test('daylight saving time of the type `other` follows its rules, every year', async (t) => {
  const rules = (from: string[], to: string[]): Zone => {
    const edge = (name: string, [month, position, weekday, time]: string[]) => ({
      [`month_${name}`]: month,
      [`position_${name}`]: position,
      [`weekday_${name}`]: weekday,
      [`time_${name}`]: time,
    })
    const user_dst = { type: 'other', ...edge('from', from), ...edge('to', to) }
    return zoneOf({ item: { timezone_id: 61 }, timezones: [], user_dst })
  }
  const europe = rules(['march', 'last', 'sunday', '02:00'], ['October', 'last', 'sunday', '02:00'])
  const winter = '2024-03-30 2026-03-28 2026-10-25 2027-03-27'
  isShown(t, europe, { standard: winter, summer: '2024-03-31 2026-03-29 2026-10-24 2027-03-28' })
  t.strictSame(rules(['march', 'last', 'sunday', '2:00'], ['October', 'last', 'sunday', '02:00 AM']), europe)
  const south = rules(['october', 'first', 'sunday', '02:00'], ['april', 'first', 'monday', ''])
  isShown(t, south, { standard: '2026-10-03 2027-04-05', summer: '2026-10-04 2027-01-01 2027-04-04' })
  t.strictSame(rules(['march', 'last', 'caturday', '02:00'], ['october', 'last', 'sunday', '']), { offsetMinutes: 60 })
})

t.test('daylight saving time of the type `automatic` follows its country, as far as it is known', async (t) => {
  const dst_countries = ['Albania', 'Australia', 'Atlantis', 'Iceland'].map((value, n) => ({ id: n + 1, value }))
  const country = (id: unknown, timezone_id: number): Zone =>
    zoneOf({ item: { timezone_id }, timezones: [], dst_countries, user_dst: { type: 'automatic', country: id } })
  for (const id of [1, '1']) isShown(t, country(id, 61), { standard: '2026-03-28 2026-10-25', summer: '2026-03-29' })
  isShown(t, country(2, 97), { standard: '2026-10-03', summer: '2026-10-05' })
  const unknown = { Albania: [1, 65], Atlantis: [3, 61], Iceland: [4, 57], 'another id': [9, 61], 'no id': [null, 61] }
  for (const [name, [id, timezone]] of Object.entries(unknown)) t.notOk(country(id, Number(timezone)).name, name)
  const named = (value: string, timezone_id: number) =>
    zoneOf({ item: { timezone_id }, dst_countries: [{ id: 1, value }], user_dst: { type: 'automatic', country: 1 } })
  for (const value of ['Bosnia and Herzegovina', 'Czech Republic', 'Gibraltar(UK)', 'Kosovo', 'Macedonia'])
    isShown(t, named(value, 61), { standard: '2026-03-28', summer: '2026-03-29' })
  for (const value of ['Akrotiri and Dhekelia(UK)', 'Aland Islands', 'Palestine']) t.ok(named(value, 65).name, value)
  const west = { 'Saint Pierre and Miquelon(FR)': 45, 'The Bahamas': 37, USA: 25 }
  for (const [value, timezone] of Object.entries(west)) t.ok(named(value, timezone).name, value)
  const dated = { type: 'automatic', date_from: '03-29 02:00', date_to: '10-25 02:00' }
  isShown(t, zoneOf({ item: { timezone_id: 61 }, user_dst: dated }), { standard: '2026-12-01', summer: '2026-07-01' })
})

const zone73 = { item: { timezone_id: 73 } }
const zone20 = { item: { timezone_id: 20 }, timezones: [{ id: 20, value: 'UTC -09:15' }] }
const exact = { item: { timezone_id: 61 }, user_dst: { type: 'exact', date_from: '03-29', date_to: '10-25' } }
const offsetOn = ([day, setup]: [string, object]) => utcOffset(Date.parse(`${day}T12:00:00Z`), setupIn(setup))
maps('the offset is told as of an instant, and only where the setup has a zone', offsetOn, [
  ['+04:00', ['2026-07-01', zone73]],
  ['-09:15', ['2026-07-01', zone20]],
  ['+02:00', ['2026-07-01', exact]],
  ['+01:00', ['2026-01-01', exact]],
  [undefined, ...[null, 0, 'x', 999].map((id): [string, object] => ['2026-07-01', { item: { timezone_id: id } }])],
])

t.test('a wall clock is read back as the instant that it shows, in every zone', async () => {
  const changing = [dst('03-29 02:00', '10-25 02:00'), dst('10-04', '04-05')]
  const lordHowe: Zone = { offsetMinutes: 630, name: 'Australia/Lord_Howe' }
  const zones: Zone[] = [{ offsetMinutes: 330 }, { offsetMinutes: -120 }, lordHowe, ...changing]
  const instants = fc.date({ min: new Date('2024-01-01'), max: new Date('2030-01-01'), noInvalidDate: true })
  const afterChanges = ['2026-04-04T15:40:00Z', '2026-10-03T15:40:00Z'].map((at): [Date, Zone] => [
    new Date(at),
    lordHowe,
  ])
  fc.assert(
    fc.property(instants, fc.constantFrom(...zones), (date, zone) => {
      const ms = Math.floor(date.getTime() / 1000) * 1000
      const shown = wallClock(ms, zone) as string
      const found = fromWallClock(Date.parse(`${shown.replace(' ', 'T')}Z`), zone)
      return wallClock(found, zone) === shown && Math.abs(found - ms) <= 3_600_000
    }),
    { examples: afterChanges },
  )
})

const night = '2026-05-11T23:30:00Z'
maps("today is the day on the account's clock", ([at, zone]: [string, Zone]) => dayText(today(Date.parse(at), zone)), [
  ['2026-05-12', [night, { offsetMinutes: 60 }]],
  ['2026-05-11', [night, { offsetMinutes: 0 }], [night, { offsetMinutes: 29 }], [night, { offsetMinutes: -840 }]],
  ['2026-07-02', ['2026-07-01T22:30:00Z', dst('03-29', '10-25')]],
])

const oddClocks = '24:00:01 24:30 25 10:0 10:60:00 10:00:60 10:00:00+25:00 10:00:00+05:75'.split(' ')
const oddDays =
  '0099-12-31|2025-02-29|2026-02-30|2026-5-11|2026-W20-1|20260230|00260511|2026051|11-05-2026| 2026-05-11'.split('|')
const inZone = (sent: string) => filterTime(sent, 'from', { offsetMinutes: 120 })
maps("a filter with an offset is converted to the account's clock, one without is on it already", inZone, [
  ['2026-05-11 12:00:00', '2026-05-11T10:00:00Z', '2026-05-11t10:00:00z', '2026-05-11 10:00:00Z', '2026-05-11T10Z'],
  ['2026-05-11 12:00:00', '2026-05-11T10:00:00.987654Z', '2026-05-11T10:00:00,987654Z', '20260511T100000Z'],
  ['2026-05-11 06:30:00', '2026-05-11T10:00:00+05:30', '2026-05-11T10:00:00+0530', '20260511T1000+0530'],
  ['2026-05-11 06:30:00', '2026-05-11T10:00:00 05:30', '2026-05-11T10:00:00 +05:30'],
  ['2026-05-11 15:00:00', '2026-05-11T10:00:00-03'],
  ['2026-05-12 01:30:00', '2026-05-11T23:30Z'],
  ['2027-01-01 01:30:00', '2026-12-31T23:30:00Z'],
  ['2026-05-11 10:00:00', '2026-05-11T10:00:00', '2026-05-11T10:00:00.9', '2026-05-11 10:00', '20260511T100000.5'],
  ['2026-05-11 10:00:00', '20260511T10', '2026-05-11T10', '2026-05-11T10 02:00'],
  ['2024-02-29 00:00:00', '2024-02-29T00:00:00', '2024-02-28T24:00'],
  ['2027-01-01 00:00:00', '20261231T240000'],
  ['2026-05-12 02:00:00', '2026-05-11T24:00:00Z'],
  ['2026-05-11 00:00:00', '20260511', '2026-05-11'],
  ['9999-12-31 23:59:59', '9999-12-31T23:59:59', '9999-12-31T23:59:59Z'],
  ['0001-01-01 00:00:00', '0001-01-01', '0001-01-01T00:00:00', '0001-01-01T00:00:00+05:00'],
  [undefined, '1778501007', '', 'yesterday', '2026-05-11T10:00:00 ', '2026-05-11T10:00:00 PM'],
  [undefined, ...oddDays.flatMap((day) => [day, `${day}T10:00:00Z`]), '2026-05-11T', '2026-05-11T10:00 PM'],
  [undefined, ...oddClocks.map((clock) => `2026-05-11T${clock}`)],
])

t.equal(filterTime('9999-12-31T23:59:59Z', 'to', dst('03-29', '10-25')), '9999-12-31 23:59:59', 'no end')
t.equal(filterTime('2026-05-11', 'to'), '2026-05-11 23:59:59', 'a date alone ends with its last second')
t.equal(filterTime('20260511', 'to'), '2026-05-11 23:59:59')

t.test('the hour that the end of summer repeats is in a range as a whole, so that no event is lost', async (t) => {
  const berlin = dst('03-29 02:00', '10-25 02:00')
  const from = { '23:59:59': '01:59:59', '00:00:00': '02:00:00', '00:30:00': '02:00:00', '00:58:00': '02:00:00' }
  const later = { '01:00:00': '02:00:00', '01:30:00': '02:30:00' }
  const to = { '00:30:00': '02:30:00', '00:59:59': '02:59:59', '01:00:00': '02:59:59', '01:15:00': '02:59:59' }
  const end = { '01:59:59': '02:59:59', '02:00:00': '03:00:00' }
  for (const [edge, clocks] of Object.entries({ from: { ...from, ...later }, to: { ...to, ...end } })) {
    for (const [clock, shown] of Object.entries(clocks)) {
      const day = clock === '23:59:59' ? '24' : '25'
      const found = filterTime(`2026-10-${day}T${clock}Z`, edge as 'from' | 'to', berlin)
      t.equal(found, `2026-10-25 ${shown}`, `${edge} ${clock}`)
    }
  }
  const named = { offsetMinutes: 60, name: 'Europe/Berlin' }
  const odd = [dst('03-28 23:59', '10-24 23:59'), { offsetMinutes: 0, name: 'Antarctica/Troll' }]
  const zones = [berlin, dst('10-04 02:00', '04-05 03:00'), named, ...odd]
  const minutes = fc.integer({ min: 0, max: 366 * 24 * 60 })
  const near = fc.integer({ min: Date.UTC(2026, 9, 24, 22) / 60_000, max: Date.UTC(2026, 9, 25, 4) / 60_000 })
  const any = minutes.map((minute) => Date.UTC(2026, 0, 1) / 60_000 + minute)
  fc.assert(
    fc.property(fc.oneof(near, any), fc.integer({ min: 0, max: 180 }), fc.constantFrom(...zones), (at, later, zone) => {
      const [from, between, to] = [at, at + later / 2, at + later].map((minute) => new Date(minute * 60_000))
      const clock = wallClock((between as Date).getTime(), zone) as string
      const range = [filterTime(from!.toISOString(), 'from', zone), filterTime(to!.toISOString(), 'to', zone)]
      return (range[0] as string) <= clock && clock <= (range[1] as string)
    }),
  )
})

maps('a day is one of the calendar', isDay, [
  [true, '2026-05-11'],
  [false, '2026-05-11T00:00:00', '2026-02-30', '0099-05-11', '20260511', ''],
])

maps('the zone is needed only for a filter with an offset', carriesOffset, [
  [true, '2026-05-11T10:00:00Z', '2026-05-11T10:00+01', '2026-05-11T10:00:00-00:00'],
  [false, '2026-05-11', '2026-05-11T10:00:00', '2026-02-30T10:00:00Z', 'Z'],
])

t.test('an instant and its filter agree in every zone', async () => {
  const instants = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, fc.integer({ min: -840, max: 840 }), (date, offsetMinutes) => {
      const zone = { offsetMinutes }
      const shifted = new Date(date.getTime() + offsetMinutes * 60_000).toISOString().slice(0, 19).replace('T', ' ')
      return filterTime(date.toISOString(), 'to', zone) === shifted && wallClock(date.getTime(), zone) === shifted
    }),
  )
})
