/** A scrubbed exchange holds no identifying data, and keeps its shape. */
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { drift } from '../../src/replay/drift.js'
import { type Exchange, fileNameOf, format, type RecordedResponse, readFolder } from '../../src/replay/exchange.js'
import { findLeaks } from '../../src/replay/find-leaks.js'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { hashOf } from '../../src/replay/replay.js'
import { buildScrub } from '../../src/replay/scrub.js'
import { accounts, fixtures, scrub, scrubbed } from './folders.js'

const exchange = (response: RecordedResponse, query = {}): Exchange => {
  return { action: 'get_devices', query, responses: [response] }
}

const hash = hashOf('a test')
/** Values that must not be recorded, by the name under which a platform may send them. */
const secrets: Record<string, fc.Arbitrary<string>> = {
  user_api_hash: fc.constant(hash),
  password: fc.stringMatching(/^[a-z]{3}[A-Z]{3}[0-9]{3}[a-z]{3}$/),
  email: fc.stringMatching(/^[a-z]{6,10}@[a-z]{6,10}\.com$/),
  imei: fc.stringMatching(/^([1-8]\d|9[0-8])\d{13}$/),
  phone: fc.stringMatching(/^\+34[1-9]\d{8}$/),
  sim_number: fc.stringMatching(/^([1-8]\d|9[0-8])\d{13}$/),
  vin: fc.stringMatching(/^[A-HJ-NPR-Z]{5}[0-9]{6}[A-Z]{6}$/),
  plate_number: fc.stringMatching(/^[1-9]\d{3} ([A-Z]{3}|WAS|GPS|DAY)$/),
  registration_number: fc.stringMatching(/^[1-9]\d{8}$/),
  object_owner: fc.stringMatching(/^[A-Z][bcdfgh]{6} [A-Z][klmnpq]{6}$/),
  address: fc.stringMatching(/^[A-Z][bcdfgh]{8} [1-9][0-9]{4}$/),
  ip: fc.stringMatching(/^(8[1-9]\.1\d\d|1\d\d\.2\d)\.1\d\d\.2\d\d$/),
  ipv6: fc.ipV6().filter((address) => /([\da-f]{2}.*){4}/.test(address)),
  plan: fc.stringMatching(/^[A-Z][bcdfgh]{6} [klmnpq]{6}$/),
  title: fc.stringMatching(/^[A-Z][bcdfgh]{6} [A-Z][klmnpq]{6}$/),
  description: fc.stringMatching(/^[A-Z][bcdfgh]{6} [A-Z][klmnpq]{6}$/),
  created_by: fc.stringMatching(/^[bcdfgh]{5}\.[klmnpq]{6}$/),
  customer_id: fc.stringMatching(/^[bcdfgh]{5}-[klmnpq]{6}$/),
  icon_note: fc.stringMatching(/^[bcdfgh]{5}\.[klmnpq]{6}$/),
  tag: fc.stringMatching(/^[bcdfgh]{5}-[klmnpq]{6}$/),
  mac: fc.stringMatching(/^[1-9a-f]{2}(:[1-9a-f]{2}){5}$/),
}
/** Places in which a value can hide. */
const hidings: Record<string, (name: string, value: string) => Exchange> = {
  'under its name': (name, value) => exchange({ json: [{ items: [{ device_data: { [name]: value } }] }] }),
  'under another name': (_, value) => exchange({ json: { remark: value } }),
  'in a sentence': (_, value) => exchange({ json: { message: `Zone in (${value})` } }),
  'in a name': (_, value) => exchange({ json: { name: value } }),
  'in JSON in a string': (name, value) => exchange({ json: { sensors: JSON.stringify([{ [name]: value }]) } }),
  'in tags': (name, value) => exchange({ json: { other: `<info><${name}>${value}</${name}></info>` } }),
  'as an id': (_, value) => exchange({ json: [{ id: value, device_id: value, online: 'ack' }] }, { id: value }),
  'outside of tags': (_, value) => exchange({ json: { other: `<b>x</b> ${value}` } }),
  'in a tag without an end': (_, value) => exchange({ json: { other: `<b>${value}` } }),
  'in a list of texts': (name, value) => exchange({ json: { other_arr: [`${name}: ${value}`] } }),
  'percent-encoded': (_, value) => exchange({ json: { url: `/?x=${encodeURIComponent(value)}` } }),
  'in base64': (_, value) => exchange({ json: { blob: Buffer.from(value).toString('base64') } }),
  'in base64 as a word': (_, value) => exchange({ json: { type: Buffer.from(value).toString('base64') } }),
  'in an address': (_, value) => exchange({ json: { image: `https://tracker.example.net/x/${value}` } }),
  'as a key': (_, value) => exchange({ json: { [value]: 1 } }),
  'in the query': (name, value) => exchange({ json: [] }, { [name]: value }),
  'in a header': (_, value) => exchange({ headers: { 'set-cookie': value, location: `/login?next=${value}` } }),
  'in a page': (_, value) => exchange({ html: `<title>${value}</title>` }),
  'in broken JSON': (name, value) => exchange({ text: `{"${name}":"${value}` }),
}

t.test('no secret is recorded, wherever it hides: it is replaced or the exchange is rejected', async (t) => {
  for (const [hiding, hide] of Object.entries(hidings)) {
    for (const [name, values] of Object.entries(secrets)) {
      const verdict = fc.check(
        fc.property(values, (value) => {
          const safe = scrub(hide(name, value))
          if (findLeaks(safe, [hash]).length > 0) return true
          const text = fileNameOf(safe) + format(safe)
          const spellings = [value, encodeURIComponent(value), Buffer.from(value).toString('base64')]
          return spellings.every((spelling) => !text.includes(spelling))
        }),
        { numRuns: 20 },
      )
      if (verdict.failed) t.fail(`${name} ${hiding}: ${JSON.stringify(verdict.counterexample)}`)
    }
  }
  for (const phone of [612345678, '612345678', '612 34 56', '612-3456', '612-34-56'])
    t.notSame(scrubbed({ contact: phone }), { contact: phone })
  for (const id of [3_569_380_356_438_091, '0612345678'])
    t.notMatch(JSON.stringify(scrubbed({ device_id: id, user: { id } })), String(id))
  t.same(findLeaks(scrub(hidings['under its name']?.('imei', '356938035643809') ?? exchange({}))), [])
})

t.test('digits of any script and addresses with any letters are replaced, not rejected', async (t) => {
  const numbers = ['٠٥٥١٢٣٤٥٦٧', '１２３４５６', '۰۹۱۲۳۴۵۶', '९८७६५४', '٤١٫٣٨٧٩ ٢٫١٦٩٩', 'ABC１２３', '١٢٣٤ GPS']
  const addresses = ['disponent@müller-spedition.de', 'büro@example.com.müller.de', 'अमित@डाक.भारत', 'ops@fleet.test']
  for (const secret of [...numbers, ...addresses]) {
    for (const [hiding, hide] of Object.entries(hidings)) {
      const safe = scrub(hide('contact', secret))
      const parts = secret.split(/[ @]/).filter((part) => format(safe).includes(part))
      const leaks = hiding === 'percent-encoded' && addresses.includes(secret) ? [] : findLeaks(safe)
      t.same([leaks, parts], [[], []], `${secret} ${hiding}`)
    }
    const encoded = encodeURIComponent(secret)
    const after = JSON.stringify(scrubbed({ url: `/?x=${encoded}` }))
    if (numbers.includes(secret)) t.not(after.replace(/\D/g, ''), encoded.replace(/\D/g, ''), 'no digit in hexadecimal')
  }
})

t.test('a secret that was not scrubbed is rejected; the message names its place but not the secret', async (t) => {
  const cases: Record<string, unknown> = {
    'a password hash': { note: hash },
    'the live credential': { note: Buffer.from(`xx${hash}`).toString('base64') },
    'an e-mail address outside example.com': { note: 'mail%20ops%40fleet.test' },
    'a digit of another script': { note: 'x٠٥٥' },
    '15 digits like a real IMEI': { note: 356938035643809 },
    'a credential in a text': { note: '{"password":"hunter22"}' },
  }
  for (const [what, json] of Object.entries(cases)) {
    const leaks = findLeaks(exchange({ json }), [hash])
    t.ok(leaks.includes(`$.responses[0].json.note: ${what}`), what)
    t.notMatch(leaks.join(), /fleet\.test|hunter|3569/)
  }
  t.match(findLeaks(exchange({ json: { token: 'abc' } })), [/json\.token: a credential by its name/])
  t.match(findLeaks(exchange({ json: {} }, { s: encodeURIComponent(hash) }), [hash]), [/live credential/, /hash/])
  t.same(
    findLeaks(
      exchange({ json: { note: 'ops@example.com 990000000000501', password: 'scrubbed', token: null, secrets: [] } }),
    ),
    [],
  )
})

t.test('a number beside a name is replaced under every key, and a reading with its unit stays', async (t) => {
  for (const secret of ['1234 BCD', 'Dr. Jones 5551234', 'Haus 4711', '48°08\'13.8"N', 'دكتور 5551234']) {
    const digits = secret.replace(/\D/g, '')
    const after = String((scrubbed({ value: secret }) as { value: string }).value)
    t.not(after.replace(/\D/g, ''), digits, `${secret} is ${after}`)
  }
  const readings = { value: '3.2 bar', sensor: '12 psi', left: 'Odometer Left (1788 km)', expires: 'Expired 6d.' }
  const numbers = (record: unknown): string => JSON.stringify(record).replace(/[^\d."]/g, '')
  t.equal(numbers(scrubbed(readings)), numbers(readings))
})

t.test('a value becomes the same invented one everywhere, of its shape, and another with another secret', async (t) => {
  const before = {
    name: 'Falcon 12',
    device_data: { name: 'Falcon 12', imei: '356938035643809', plate_number: '1234-BCD', phone: '+34600123456' },
    items: [{ device_name: 'Falcon 12', message: 'Zone in (Falcon 12)' }],
    vin: 'WVWZZZ1JZXW000001',
    sensors: [{ type: 'textual', value: 'WVWZZZ1JZXW000001' }],
  }
  const after = scrubbed(before) as typeof before
  t.not(after.name, before.name)
  t.match(after.name, /^[A-Z][a-z]{5} \d\d$/)
  const shapes = { imei: /^99\d{13}$/, plate_number: /^\d{4}-[A-Z]{3}$/, phone: /^\+\d{11}$/ }
  t.match(after.device_data, { name: after.name, ...shapes })
  t.equal(after.sensors[0]?.value, after.vin)
  t.same(after.items, [{ device_name: after.name, message: `Zone in (${after.name})` }])
  t.same(scrubbed(before), after)
  t.notSame(scrubbed(before, buildScrub(new Pseudonyms('another'))), after)
  const texts = { names: ['Falcon 12', 'FALCON 12', 'Walrus 12'], email: 'Ops@Fleet.test', other: 'ops@fleet.test' }
  const { names, email, other } = scrubbed(texts) as typeof texts
  t.same([names[1], email], [names[0]?.toUpperCase(), other], 'in either case')
  t.not(names[2], names[0])
})

t.test("the platform's own words and numbers are not changed", async (t) => {
  const platformText = {
    online: 'ack',
    type: 'geofence_in',
    time: '14-03-2026 10:21:07',
    message: 'Overspeed (90 kph)',
    error: 'The from date field is required.',
    distance_sum: '17.02 Km',
    stop_duration: '53h 58min 13s',
    services: [{ value: 'Odometer Left (1788 km)' }, { value: 'Engine hours Left (1000 )' }, { value: '6d.' }],
    timestamp: '1773480067',
    total_distance: 48211.92,
    value: 'UTC +02:00',
    center: { lat: 0, lng: '0' },
    polygon_color: '#d000df',
    other: '<info><ignition>true</ignition></info>',
    power: '-',
    driver: null,
    created_at: '2025-05-05T05:05:05.000000Z',
    expiration_by: 'engine_hours',
    icon_color: 'green',
    shown_value_by: 'tag_value',
    group_id: '12',
    data: [{ id: 234567890 }],
    expiration_date: '0000-00-00 00:00:00',
    next_page_url: '/api/get_services?page=2',
  }
  t.same(scrubbed(platformText), platformText)
})

t.test('a member of any name and a number of any size keeps its place and kind', async (t) => {
  const names = '{"constructor": "driver", "toString": 1, "__proto__": {"valueOf": true}}'
  t.equal(JSON.stringify(scrubbed(JSON.parse(names))), JSON.stringify(JSON.parse(names)))
  const numbers = '{"x": 1e21, "serial": 1e22, "imei": 1e-7, "y": -1e300, "z": 1e400}'
  t.same(scrubbed(JSON.parse(numbers)), { x: 0, serial: 0, imei: 0, y: 0, z: 0 })
})

t.test('ids of users, devices and geofences become others, the same everywhere, and no two the same', async (t) => {
  const device_data = { id: '501', users: [{ id: 7 }], manager: { id: 7 } }
  const body = {
    items: [{ id: 501, online: 'ack', device_data, sensors: [{ id: 88, value: '1' }] }],
    geofences: [{ id: 81, user_id: 7 }],
    alerts: [{ id: 3, devices: [501, 502], geofences: [81] }],
    data: [{ id: 90417, device_id: 501, geofence_id: 81, geofence: { id: 81 } }],
    url: '/api/get_services?device_id=501&page=1',
  }
  const after = scrubbed(body) as typeof body
  const [device, user, fence] = [after.items[0]?.id ?? 0, after.geofences[0]?.user_id, after.geofences[0]?.id]
  t.notMatch([device, user, fence], [501, 7, 81])
  t.match([device, user, fence], [/^\d{3}$/, /^\d$/, /^\d\d$/])
  t.match(after, {
    items: [{ device_data: { id: `${device}`, users: [{ id: user }], manager: { id: user } }, sensors: [{ id: 88 }] }],
    alerts: [{ id: 3, devices: [device, Number], geofences: [fence] }],
    data: [{ id: 90417, device_id: device, geofence_id: fence, geofence: { id: fence } }],
    url: new RegExp(`device_id=${device}&page=1`),
  })
  const filtered = { alerts: { 3: { devices: { 1: 501 } } }, geofences: { 1: { id: 81 } }, users: { 0: { id: 7 } } }
  const expected = {
    alerts: { 3: { devices: { 1: device } } },
    geofences: { 1: { id: fence } },
    users: { 0: { id: user } },
  }
  t.same(scrubbed(filtered), expected, 'a list that is sent as an object')
  const rows = [
    { id: 501, title: '', items: [{ id: 501 }] },
    { id: 501, items: { 2: { id: 501 } } },
  ]
  const ownIds = [
    { id: 501, title: '', items: [{ id: device }] },
    { id: 501, items: { 2: { id: device } } },
  ]
  t.same(scrubbed(rows), ownIds, 'a device without other fields')
  t.equal(scrub({ action: 'services/501', query: {}, responses: [{}] }).action, `services/${device}`)
  t.same(scrub(exchange({}, { id: '501', 'id[]': '501' })).query, { id: String(device), 'id[]': String(device) })
  const pseudonyms = new Pseudonyms('x')
  for (const min of [1, 1_000, 1e14]) {
    const max = 10 * min - 1
    const ids = Array.from({ length: Math.min(9_000, max - min + 1) }, (_, n) => pseudonyms.id(min + n))
    t.equal(new Set(ids).size, ids.length)
    t.ok(ids.every((id) => id >= min && id <= max))
    t.ok(ids.every((id, n) => pseudonyms.originalId(id) === min + n))
  }
})

t.test('scrubbing changes no shape of any fixture and leaves no leak', async (t) => {
  for (const name of accounts) {
    for (const exchange of (await readFolder(join(fixtures, name))).exchanges) {
      const safe = scrub(exchange)
      const changed = exchange.responses.flatMap((response, i) => drift(response.json, safe.responses[i]?.json))
      t.same([changed, findLeaks(safe, [hashOf(name)])], [[], []], `${name}/${fileNameOf(exchange)}`)
    }
  }
})
