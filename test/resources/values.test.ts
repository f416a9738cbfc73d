import fc from 'fast-check'
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireSetup } from '../../src/platform/wire.js'
import { DevicesQuery } from '../../src/resources/device.js'
import { displayTime } from '../../src/resources/display-time.js'
import { EventsQuery } from '../../src/resources/event.js'
import { HistoryQuery } from '../../src/resources/history.js'
import { envelope, ListQuery, page, readQuery, translated } from '../../src/resources/list.js'
import { asIfUtc, dayText, durationSeconds, epochDay, unixSeconds } from '../../src/resources/time.js'
import { coordinates, flag, id, number, quantity, text, toKm, toKmh, toMetres } from '../../src/resources/units.js'
import { carriesOffset, filterTime, isDay, today, toZone, wallClock, type Zone } from '../../src/resources/zone.js'

const utc = (iso: string): number => Date.parse(iso) / 1000

t.test('numbers are read however they are written (N01, N02, N24)', async (t) => {
  const rows: [string | number | boolean | undefined, number | undefined][] = [
    [3, 3],
    ['3', 3],
    [' 3.50 ', 3.5],
    ['-0', 0],
    [-0, 0],
    ['1 234.5', 1234.5],
    ['1\u00a0234,5', 1234.5],
    ["1'234.5", 1234.5],
    ['1,234.5', 1234.5],
    ['1.234,5', 1234.5],
    ['1,234', 1234],
    ['1,234,567', 1234567],
    ['1.234.567', 1234567],
    ['0,123', 0.123],
    ['12,5', 12.5],
    ['1.0E-5', 0.00001],
    ['.5', 0.5],
    ['-', undefined],
    ['- 5', undefined],
    ['- nn', undefined],
    ['', undefined],
    ['5 km', undefined],
    ['1e999', undefined],
    [1e300, undefined],
    ['0x10', undefined],
    [true, undefined],
    [undefined, undefined],
  ]
  for (const [value, expected] of rows) t.equal(number(value), expected, JSON.stringify(value))
})

t.test('an amount is told from its unit in any spelling (N24)', async (t) => {
  t.same(quantity('23.41 Km'), { amount: 23.41, unit: 'km' })
  t.same(quantity('58 Kph'), { amount: 58, unit: 'kph' })
  t.same(quantity('0 Km'), { amount: 0, unit: 'km' })
  t.same(quantity('1 234.5 km'), { amount: 1234.5, unit: 'km' })
  t.same(quantity('10.6mi'), { amount: 10.6, unit: 'mi' })
  t.same(quantity('-12 км'), { amount: -12, unit: 'км' })
  t.same(quantity(7), { amount: 7, unit: '' })
  for (const none of ['- km', '-', '', 'km', true, undefined]) t.equal(quantity(none), undefined, String(none))
})

t.test('miles, feet and knots become kilometres, metres and km/h; other units stay (N24, N64)', async (t) => {
  t.equal(toKm(10.6, 'mi'), 17.06)
  t.equal(toKm(10.6, ' Miles '), 17.06)
  t.equal(toKm(10.654321, 'km'), 10.654321)
  t.equal(toKmh(62, 'MPH'), 99.8)
  t.equal(toKmh(10, 'kn'), 18.5)
  t.equal(toKmh(62.25, 'kph'), 62.25)
  t.equal(toKmh(62, undefined), 62)
  t.equal(toKmh(62, 'constructor'), 62)
  t.equal(toMetres(1000, 'ft'), 304.8)
  t.equal(toMetres(1000, 'mt'), 1000)
})

t.test('flags are read in every spelling, and a dash is no answer (N01, N43, N46)', async (t) => {
  for (const yes of [1, '1', true, 'true', 'on', 2]) t.equal(flag(yes), true, String(yes))
  for (const no of [0, '0', false, 'false', '', 'OFF']) t.equal(flag(no), false, String(no))
  for (const none of [undefined, '-']) t.equal(flag(none), undefined)
})

t.test('text is trimmed and a dash is none (N03, N40)', async (t) => {
  t.equal(text(' Park\t'), 'Park')
  t.equal(text(12), '12')
  for (const none of ['-', ' - ', '', '  ', true, undefined]) t.equal(text(none), undefined)
})

t.test('an id is a positive integer that JSON can carry, in digits only', async (t) => {
  t.equal(id('318'), 318)
  t.equal(id(318), 318)
  t.equal(id(9007199254740991), 9007199254740991)
  for (const none of [
    '9007199254740993',
    '99999999999999999999',
    '1e3',
    ' 5',
    '+5',
    '-5',
    '0',
    0,
    1.5,
    '1.0',
    '',
    true,
  ])
    t.equal(id(none), undefined, String(none))
})

t.test('coordinates lie on Earth, and 0/0 is no place (N08)', async (t) => {
  t.same(coordinates('48.2', '16.3'), { lat: 48.2, lng: 16.3 })
  t.same(coordinates('48,208', '16,373'), { lat: 48.208, lng: 16.373 })
  t.same(coordinates(0, 16), { lat: 0, lng: 16 })
  for (const [lat, lng] of [
    [0, 0],
    ['0', '0.000'],
    [-0, 0],
    [91, 0],
    [1, 181],
    ['-', '-'],
    [undefined, 5],
    ['', ''],
    [true, 1],
  ] as const)
    t.equal(coordinates(lat, lng), undefined, `${lat} ${lng}`)
})

t.test('display dates in every order and spelling become one (N05)', async (t) => {
  const at = utc('2026-03-14T21:07:00Z')
  const rows: [string, string | undefined][] = [
    ['2026-03-14 21:07:08', '2026-03-14 21:07:08'],
    ['14-03-2026 21:07:08', '2026-03-14 21:07:08'],
    ['03-14-2026 09:07:08 PM', '2026-03-14 21:07:08'],
    ['03/14/2026 9:07 pm', '2026-03-14 21:07:00'],
    ['2026/03/14 21:07:08', '2026-03-14 21:07:08'],
    ['2026.03.14 21:07', '2026-03-14 21:07:00'],
    ['14.03.2026 21:07:08', '2026-03-14 21:07:08'],
    ['14.3.2026, 21:07:08', '2026-03-14 21:07:08'],
    ['14/03/2026 12:00:00 AM', '2026-03-14 00:00:00'],
    ['14/03/2026 12:30:00 p.m.', '2026-03-14 12:30:00'],
    ['14/03/2026 21:07 PM', '2026-03-14 21:07:00'],
    ['14-03-2026', '2026-03-14 00:00:00'],
    ['2026-03-14T21:07:08.000000Z', '2026-03-14 21:07:08'],
    ['2026-03-14T21:07:08+05:30', '2026-03-14 21:07:08'],
    ['2024-02-29 00:00:00', '2024-02-29 00:00:00'],
    ['2026-02-29 00:00:00', undefined],
    ['2026-02-30 00:00:00', undefined],
    ['31-04-2026 00:00:00', undefined],
    ['2026-13-01 00:00:00', undefined],
    ['2026-03-14 24:00:00', undefined],
    ['2026-03-14 21:60:00', undefined],
    ['14-03/2026 21:07', undefined],
    ['2026-03-14 soon', undefined],
  ]
  for (const [shown, expected] of rows) t.equal(displayTime(shown, [at]), expected, shown)
})

t.test(
  'of two readings of day and month, the one nearest to the timestamp is taken; else the day comes first (N05)',
  async (t) => {
    t.equal(displayTime('04-03-2026 10:00:00', [utc('2026-03-04T08:00:00Z')]), '2026-03-04 10:00:00')
    t.equal(displayTime('04-03-2026 10:00:00', [utc('2026-04-03T20:00:00Z')]), '2026-04-03 10:00:00')
    t.equal(displayTime('04-03-2026 10:00:00'), '2026-03-04 10:00:00')
    t.equal(
      displayTime('04-03-2026 10:00:00', [utc('2026-01-01T00:00:00Z'), utc('2026-04-03T09:00:00Z')]),
      '2026-04-03 10:00:00',
    )
  },
)

t.test('words, zero dates and the epoch are no time (N06, N07, N59)', async (t) => {
  for (const none of [
    'Not connected',
    'Expired',
    '-',
    '',
    '0000-00-00',
    '0000-00-00 00:00:00',
    '-0001-11-30 00:00:00',
    '1970-01-01 05:30:00',
    '01-01-1970 00:00:00',
    5,
    true,
    undefined,
    '9'.repeat(1000),
  ])
    t.equal(displayTime(none), undefined, String(none).slice(0, 30))
})

t.test('every real instant survives being displayed in every order, when the timestamp is known', async () => {
  const instants = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, fc.constantFrom('-', '/', '.'), (date, mark) => {
      const iso = date.toISOString()
      const [y, m, d, clock] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10), iso.slice(11, 19)]
      const hour = Number(clock.slice(0, 2))
      const half = `${String(hour % 12 || 12).padStart(2, '0')}${clock.slice(2)} ${hour < 12 ? 'AM' : 'PM'}`
      const near = [Math.floor(date.getTime() / 1000)]
      return [
        [y, m, d],
        [d, m, y],
        [m, d, y],
      ].every((order) =>
        [clock, half].every((time) => displayTime(`${order.join(mark)} ${time}`, near) === `${y}-${m}-${d} ${clock}`),
      )
    }),
  )
})

t.test('timestamps in milliseconds or as text become seconds, and nonsense never (N62)', async (t) => {
  t.equal(unixSeconds(number('1778501007')), 1778501007)
  t.equal(unixSeconds(1778501007123), 1778501007)
  t.equal(unixSeconds(1778501007.9), 1778501007)
  for (const none of [undefined, 0, -5, 9e14]) t.equal(unixSeconds(none), 0)
})

t.test('durations of every length and spelling are counted in seconds (N25)', async (t) => {
  const rows: [string, number | undefined][] = [
    ['47h 12min 9s', 169_929],
    ['12d 7h 41min 30s', 1_064_490],
    ['0s', 0],
    ['18min 50s', 1130],
    ['01:02:03', 3723],
    ['125:00:00', 450_000],
    ['2 hours 5 minutes', 7500],
    ['1día 2h', 93_600],
    ['5', undefined],
    ['5 parsecs', undefined],
    ['5constructor', undefined],
    ['-5s', undefined],
    ['01:62:03', undefined],
    ['', undefined],
  ]
  for (const [written, seconds] of rows) t.equal(durationSeconds(written), seconds, written)
})

t.test('days are counted from 1970-01-01 and back', async (t) => {
  t.equal(epochDay('1970-01-02'), 1)
  t.equal(epochDay('2026-05-11 23:59:59'), 20_584)
  t.equal(dayText(20_584), '2026-05-11')
  t.equal(epochDay('2026-02-30'), undefined)
  t.equal(dayText(1e9), undefined)
  t.equal(asIfUtc('2026-05-11 00:00:00'), 20_584 * 86_400)
})

const setup = (raw: unknown) => read(wireSetup, raw)

t.test("the account's zone is looked up by id, as text or number, else computed from the id", async (t) => {
  const timezones = [
    { id: 61, value: 'UTC +01:00' },
    { id: 62, value: '+ 5:30' },
    { id: 20, value: 'UTC -09:15' },
  ]
  const offset = (timezone_id: unknown, list: unknown = timezones) =>
    toZone(setup({ item: { timezone_id }, timezones: list })).offsetMinutes
  t.equal(offset('61'), 60)
  t.equal(offset(61), 60)
  t.equal(offset(62), 330)
  t.equal(offset('20'), -555)
  t.equal(offset(57, []), 0)
  t.equal(offset('65', []), 120)
  t.equal(offset(1, []), -840)
  t.equal(offset(113, []), 840)
  for (const none of [114, 0, 'x', null, undefined]) t.equal(offset(none, []), 0, String(none))
  t.same(toZone(setup(null)), { offsetMinutes: 0 })
})

t.test('an hour is added between exact daylight saving days, in both hemispheres', async (t) => {
  const zone = (date_from: string, date_to: string, type = 'exact') =>
    toZone(setup({ item: { timezone_id: 61 }, timezones: [], user_dst: { type, date_from, date_to } }))
  const north = zone('03-29 02:00', '10-25 02:00')
  t.equal(wallClock(Date.parse('2026-03-29T00:59:59Z'), north), '2026-03-29 01:59:59')
  t.equal(wallClock(Date.parse('2026-03-29T01:00:00Z'), north), '2026-03-29 03:00:00')
  t.equal(wallClock(Date.parse('2026-12-01T12:00:00Z'), north), '2026-12-01 13:00:00')
  const south = zone('2025-10-05 02:00:00', '2026-04-05 02:00:00')
  t.equal(wallClock(Date.parse('2026-01-01T12:00:00Z'), south), '2026-01-01 14:00:00')
  t.equal(wallClock(Date.parse('2026-07-01T12:00:00Z'), south), '2026-07-01 13:00:00')
  for (const none of [
    zone('', ''),
    zone('13-40', '03-01'),
    zone('03-29 02:00', '10-25 02:00', 'none'),
    zone('03-29', '10-25', 'automatic'),
  ])
    t.same(none, { offsetMinutes: 60 })
})

t.test("today is the day on the account's clock", async (t) => {
  const late = Date.parse('2026-05-11T23:30:00Z')
  t.equal(dayText(today(late, { offsetMinutes: 60 })), '2026-05-12')
  t.equal(dayText(today(late, { offsetMinutes: 0 })), '2026-05-11')
})

t.test("a filter with an offset is converted to the account's clock, one without is on it already", async (t) => {
  const zone: Zone = { offsetMinutes: 120 }
  const rows: [string, string | undefined][] = [
    ['2026-05-11T10:00:00Z', '2026-05-11 12:00:00'],
    ['2026-05-11t10:00:00z', '2026-05-11 12:00:00'],
    ['2026-05-11 10:00:00Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10:00:00.987654Z', '2026-05-11 12:00:00'],
    ['2026-05-11T10:00:00+05:30', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00+0530', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00 05:30', '2026-05-11 06:30:00'],
    ['2026-05-11T10:00:00-03', '2026-05-11 15:00:00'],
    ['2026-05-11T23:30Z', '2026-05-12 01:30:00'],
    ['2026-12-31T23:30:00Z', '2027-01-01 01:30:00'],
    ['2026-05-11T10:00:00', '2026-05-11 10:00:00'],
    ['2026-05-11 10:00', '2026-05-11 10:00:00'],
    ['2024-02-29T00:00:00', '2024-02-29 00:00:00'],
    ['9999-12-31T23:59:59Z', undefined],
    ['2026-02-30T10:00:00Z', undefined],
    ['2025-02-29', undefined],
    ['2026-05-11T24:00:00', undefined],
    ['2026-05-11T10:60:00', undefined],
    ['2026-05-11T10:00:00+25:00', undefined],
    ['2026-05-11T10:00:00+05:75', undefined],
    ['2026-05-11T10:00:00 PM', undefined],
    ['2026-05-11T', undefined],
    ['2026-05-11T10', undefined],
    ['2026-5-11', undefined],
    ['11-05-2026', undefined],
    ['1778501007', undefined],
    [' 2026-05-11', undefined],
    ['', undefined],
    ['yesterday', undefined],
  ]
  for (const [sent, expected] of rows) t.equal(filterTime(sent, 'from', zone), expected, sent)
})

t.test('a date alone is its start or its end', async (t) => {
  t.equal(filterTime('2026-05-11', 'from'), '2026-05-11 00:00:00')
  t.equal(filterTime('2026-05-11', 'to'), '2026-05-11 23:59:59')
  t.equal(isDay('2026-05-11'), true)
  for (const none of ['2026-05-11T00:00:00', '2026-02-30', '20260511', '']) t.equal(isDay(none), false, none)
})

t.test('the zone is needed only for a filter that carries an offset', async (t) => {
  for (const yes of ['2026-05-11T10:00:00Z', '2026-05-11T10:00+01', '2026-05-11T10:00:00-00:00'])
    t.equal(carriesOffset(yes), true, yes)
  for (const no of ['2026-05-11', '2026-05-11T10:00:00', '2026-02-30T10:00:00Z', 'Z'])
    t.equal(carriesOffset(no), false, no)
})

t.test('an instant and its filter text agree in every zone', async () => {
  const instants = fc.date({ min: new Date('1980-01-01'), max: new Date('2200-01-01'), noInvalidDate: true })
  fc.assert(
    fc.property(instants, fc.integer({ min: -840, max: 840 }), (date, offsetMinutes) => {
      const zone = { offsetMinutes }
      return filterTime(date.toISOString(), 'to', zone) === wallClock(date.getTime(), zone)
    }),
  )
})

t.test('a filter and a display time never throw, whatever is sent', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (sent) => {
      const result = filterTime(sent, 'from', { offsetMinutes: -840 })
      const shown = displayTime(sent)
      durationSeconds(sent)
      quantity(sent)
      return [result, shown].every((time) => time === undefined || /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(time))
    }),
  )
})

t.test('a list shows what was applied and whether more follows', async (t) => {
  const items = [1, 2, 3, 4, 5]
  t.same(page(items, { limit: 2, offset: 1 }), {
    object: 'list',
    count: 5,
    limit: 2,
    offset: 1,
    has_more: true,
    data: [2, 3],
  })
  t.same(page(items, { limit: 2, offset: 3 }), {
    object: 'list',
    count: 5,
    limit: 2,
    offset: 3,
    has_more: false,
    data: [4, 5],
  })
  t.same(page(items, { limit: 2, offset: 9 }), {
    object: 'list',
    count: 5,
    limit: 2,
    offset: 9,
    has_more: false,
    data: [],
  })
  t.same(page(items, {}), { object: 'list', count: 5, limit: 5, offset: 0, has_more: false, data: items })
  t.same(page([], {}), { object: 'list', count: 0, limit: 1, offset: 0, has_more: false, data: [] })
  t.same(envelope(['a'], 90, { limit: 50, offset: 88 }).has_more, true)
})

t.test('pages of any size put together are the whole list', async () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 7 }), (items, limit) => {
      const all: number[] = []
      let more = true
      for (let offset = 0; more; offset += limit) {
        const part = page(items, { limit, offset })
        all.push(...part.data)
        more = part.has_more
      }
      return JSON.stringify(all) === JSON.stringify(items)
    }),
  )
})

t.test('rows that make nothing are counted and cost nobody else', async (t) => {
  t.same(translated(['1', 'x', '3'], id), { items: [1, 3], skipped: 1 })
})

t.test('defaults are filled in, a high limit is lowered, unknown names are ignored', async (t) => {
  t.same(readQuery(DevicesQuery, {}), { value: { limit: 50, offset: 0 } })
  t.same(readQuery(DevicesQuery, { limit: '501', offset: '7', x: ['1', '2'] }), { value: { limit: 500, offset: 7 } })
  t.same(readQuery(DevicesQuery, { limit: '99999999999999999999' }), { value: { limit: 500, offset: 0 } })
  t.same(readQuery(EventsQuery, { limit: '201' }), { value: { limit: 200, offset: 0 } })
  t.same(readQuery(ListQuery, {}), { value: { offset: 0 } })
  t.same(readQuery(ListQuery, null), { value: { offset: 0 } })
  t.same(readQuery(DevicesQuery, { status: 'moving' }), { value: { status: 'moving', limit: 50, offset: 0 } })
})

t.test('a parameter that is not exactly what it must be is named', async (t) => {
  const bad: [Parameters<typeof readQuery>[0], Record<string, unknown>, string][] = [
    ...['1e3', ' 5', '5 ', '+5', '0', '-1', '1.0', '', 'x', '0x10', '٥'].map(
      (limit): [typeof DevicesQuery, object & Record<string, unknown>, string] => [DevicesQuery, { limit }, 'limit'],
    ),
    [DevicesQuery, { limit: ['5', '5'] }, 'limit'],
    [DevicesQuery, { offset: '-1' }, 'offset'],
    [DevicesQuery, { offset: '99999999999999999999' }, 'offset'],
    [DevicesQuery, { status: 'parked' }, 'status'],
    [DevicesQuery, { status: 'Moving' }, 'status'],
    [DevicesQuery, { status: '' }, 'status'],
    [EventsQuery, { device_id: '0' }, 'device_id'],
    [EventsQuery, { device_id: '1e3' }, 'device_id'],
    [EventsQuery, { device_id: '99999999999999999999' }, 'device_id'],
    [EventsQuery, { type: '' }, 'type'],
    [EventsQuery, { type: 'x'.repeat(101) }, 'type'],
    [EventsQuery, { from: ['2026-05-11', '2026-05-12'] }, 'from'],
    [HistoryQuery, { from: '2026-05-11' }, 'to'],
    [HistoryQuery, { to: '2026-05-11' }, 'from'],
  ]
  for (const [schema, query, param] of bad) {
    const result = readQuery(schema, query)
    t.equal('param' in result && result.param, param, JSON.stringify(query))
    t.notOk('reason' in result && result.reason.includes('99999'), 'the input is not repeated')
  }
})
