/** The words by which the gateway reads the platform stay in a recording, and the same words as names do not. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { setupIn } from '../../src/platform/wire.js'
import { toZone } from '../../src/resources/zone.js'
import { scrubbed } from './folders.js'

/** The words in the declaration of a list or a pattern in the gateway's source. */
function wordsOf(file: string, name: string): string[] {
  const declaration = new RegExp(`^const ${name}\\b.*? =\\s(.*?)\n(?:\n|const|/\\*\\*)`, 'ms')
  const declared = declaration.exec(readFileSync(`src/${file}.ts`, 'utf8'))?.[1] ?? ''
  const words =
    declared
      .replace(/\/i$|\\[bs]|\b[a-z]+[A-Z]\w*|\bnew Set\b|\beach\b|\.split\b/g, '')
      .match(/\p{Ll}+(?:\/\p{Ll})?/gu) ?? []
  t.ok(words.length > 0, `${name} has words`)
  return words
}

t.test('every unit, duration and flag that the gateway reads stays', async (t) => {
  const units = ['kmPerMiles', 'kmPer', 'metresPer'].flatMap((name) => wordsOf('resources/units', name))
  for (const unit of [...units, 'Litros', 'ltr', 'm3', 'm³', ...wordsOf('resources/time', 'units')]) {
    const json = { value: `12 ${unit}`, stop_duration: `1,012.5${unit}`, unit: unit.toUpperCase() }
    t.same(scrubbed(json), json)
  }
  for (const active of wordsOf('resources/units', 'falseWords')) t.same(scrubbed({ active }), { active })
})

t.test('a time and a number stay in every form that the gateway reads', async (t) => {
  const times = [
    '14-03-2026 09:05:07 p.m.',
    '2026-03-14 09:05:07 PM',
    '14/03/2026 9:05 a.m.',
    '2026-03-14T09:05Z',
    '09:05:07Z',
    '14-3-2026 9:21:07',
    '2026-3-14 9:21',
    '4-3-2026 9:05 AM',
  ]
  for (const time of times) t.same(scrubbed({ time, name: time }), { time, name: time })
  for (const value of ['1.0E-5', '1.5e3', '-2.25e+12'])
    t.same(scrubbed({ value, distance: value }), { value, distance: value })
})

t.test('units in capitals stay with their numbers, unless a number plate has the same form', async (t) => {
  for (const value of ['43 KPH', '29 MPH', '15 MIN', '2 HRS', '3 DAYS', '12 VDC', '-4 C', '43KPH', '12.5 LTR', '104 F'])
    t.same(scrubbed({ value, sensors: [{ value }] }), { value, sensors: [{ value }] })
  for (const value of ['110 KPH', '1200 KPH', '1,012.5 KMH', '2 HRS 15 MIN', '47h 12min 9s'])
    for (const key of ['top_speed', 'distance_sum', 'altitude', 'stop_duration', 'radius'])
      t.same(scrubbed({ [key]: value }), { [key]: value })
  for (const plate of ['1234 KPH', '123 HRS', '12 BCD', '12 BCD KPH']) {
    const digits = /\d+/.exec(plate)?.[0] ?? plate
    t.notMatch(JSON.stringify(scrubbed({ value: plate, name: plate, top_speed: `${plate} X` })), digits, plate)
  }
  const counters = [
    { type: 'engine_hours', value: '1523 HRS' },
    { type: 'ODOMETER', value: '120 MILES' },
    { type: 'tachometer', value: '1850 RPM', formatted: '1850 RPM' },
    { type: 'speed', value: '120 KPH' },
  ]
  t.same(scrubbed({ sensors: counters }), { sensors: counters }, 'the type of a sensor says that it is none')
  t.notMatch(JSON.stringify(scrubbed([{ type: 'speed', value: '1234 BCD', name: '120 KPH' }])), /1234|120/)
  t.notMatch(JSON.stringify(scrubbed({ address: 'Main 12 C', name: 'Bus 43 KPH', message: '12C' })), /12|43/)
})

t.test('a word that the gateway reads in any letter case stays in every one', async (t) => {
  const types = ['GEOFENCE_IN', 'Geofence_InOut', 'Unplugged', 'Service_Expired', 'Move_Start', 'Fuel_Fill', 'ACC']
  for (const type of types) t.same(scrubbed({ type, expiration_by: type }), { type, expiration_by: type })
  for (const protocol of ['Teltonika', 'GT06', 'TK103']) t.same(scrubbed({ protocol }), { protocol })
  const colors = { polygon_color: '#D000DF', color: 'FFF' }
  t.same(scrubbed(colors), colors)
  const words = { online: 'Engine', value: 'Yes', other: '<info><ignition>yes</ignition></info>', zone: 'GMT 00:00' }
  t.same(scrubbed(words), words)
  for (const type of ['BCD123', 'AbCdEfGhIjKl', 'Ivan.Petrov']) t.notMatch(JSON.stringify(scrubbed({ type })), type)
})

t.test('every text by which the gateway knows a refusal, no data or harsh driving stays', async (t) => {
  const texts = [
    ...['Invalid hash', 'Unauthorized', 'Wrong credentials', 'Please log in', 'Login required', 'Wrong token'],
    ...['Account is blocked', 'Account deactivated', 'Account expired', 'Authentication failed', 'No data available'],
    ...['No history', 'No records found', 'No results', 'No positions', 'No records were found', 'No data was found.'],
    ...['No items', 'No devices', 'No events', 'No alerts found', 'No drivers', 'No services', 'No geofences'],
    ...['User is blocked', 'Subscription expired'],
    ...['Harsh breaking', 'Hard braking', 'Sharp deceleration', 'Sudden acceleration', 'Rapid acceleration'],
    ...[
      'hard-braking',
      'Brake hard',
      'Harsh Accel',
      'rapid accel',
      'sharp decel',
      'Hard accelerating',
      'Harsh  braking',
    ],
    ...['HarshBraking', 'Brake: hard', 'Braking (harsh)', 'harsh_acceleration'],
    ...['Braked harshly', 'Frenazo brusco', 'Acelerada brusca'],
    ...['Abrupt brake', 'Frenada brusca', 'Freada brusca', 'Aceleración brusca', 'Desaceleración brusca'],
  ]
  for (const message of texts) t.same(scrubbed({ message }), { message })
  const all = texts.join().toLowerCase().replaceAll('ó', 'o')
  const patterns = {
    'platform/response': ['authenticationText', 'lapsedText', 'accountText'],
    'platform/error-body': ['noDataText'],
    'resources/event-kind': ['harsh', 'braking', 'acceleration'],
  }
  for (const [file, names] of Object.entries(patterns)) {
    for (const word of names.flatMap((name) => wordsOf(file, name))) t.ok(all.includes(word), `an example of ${word}`)
  }
})

t.test('the daylight saving time of an account stays', async (t) => {
  const zoneOf = (setup: unknown) => toZone(setupIn(setup))
  const setup = (user_dst: object) => ({
    item: { timezone_id: 2 },
    timezones: [{ id: 2, value: 'UTC +01:00' }],
    user_dst,
    dst_countries: [
      { id: 1, value: 'Akrotiri and Dhekelia(UK)' },
      { id: 4, value: 'Germany' },
    ],
  })
  const ruleOf = (month: string, day: string, position: string) => ({
    ...{ type: 'other', month_from: month, week_day_from: day, week_pos_from: position, time_from: '02:00' },
    ...{ month_to: 'October', week_day_to: 'sunday', week_pos_to: 'last', time_to: '03:00' },
  })
  const [months = [], days = [], positions = []] = ['months', 'weekdays', 'positions'].map((name) =>
    wordsOf('resources/daylight-saving', name),
  )
  const rules = months.map((month, n) => ruleOf(month, days[n % 7] ?? '', positions[n % 5] ?? ''))
  const exact = { type: 'exact', date_from: '03-29 02:00', date_to: '10-25 03:00' }
  for (const dst of [...rules, exact, { type: 'automatic', country_id: 4 }]) {
    t.match(zoneOf(setup(dst)), dst.type === 'automatic' ? { name: /^Europe/ } : { summer: Object })
    t.same(zoneOf(scrubbed(setup(dst))), zoneOf(setup(dst)))
  }
})

t.test('a word that may be a name is replaced wherever it may be one', async (t) => {
  const names = ['May', 'April', 'August', 'Hard', 'Sharp', 'Brusca', 'Miles', 'Dias', 'Knots', 'Foot', 'Germany']
  for (const name of names) {
    const row = { name, driver: `12 ${name}`, remark: name, user_dst: { note: `${name} Berlin` }, value: `${name} 12` }
    t.notMatch(JSON.stringify(scrubbed(row)), new RegExp(name, 'i'))
  }
})
