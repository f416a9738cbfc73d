/** What identifies a person or a vehicle is in no recording, wherever it was, and everything else stays. */
import fc from 'fast-check'
import t from 'tap'
import { type Exchange, fileNameOf, format, type RecordedResponse } from '../../src/replay/exchange.js'
import { findLeaks } from '../../src/replay/find-leaks.js'
import { hashOf } from '../../src/replay/replay.js'
import { only } from '../only.js'
import { scrub, scrubbed } from './folders.js'

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
  const separated = '0664/1234567 +43/664/1234567 06.12.34.56.78 +1.415.188.9523 11.98765.4321 0664_1234567'.split(' ')
  for (const phone of [...separated, '0664\u20131234567', '0664\u00a01234567']) {
    const after = JSON.stringify(scrubbed({ contact: phone, name: phone }))
    for (const part of [phone, ...phone.split(/\D+/).filter(({ length }) => length > 3)])
      t.notOk(after.includes(part), `${phone} is ${after}`)
  }
  for (const plate of ['KCA 123D', 'W 4711 H', 'Oldtimer M-AB 123H'])
    t.notMatch(JSON.stringify(scrubbed({ name: plate })), /\d+ ?[DH]"/.exec(`${plate}"`)?.[0] ?? plate, plate)
  for (const id of [3_569_380_356_438_091, '0612345678', '061234'])
    t.notMatch(JSON.stringify(scrubbed({ device_id: id, user: { id } })), String(id))
  for (const phone of ['1012345678', 1_012_345_678])
    for (const key of ['contact', 'contact_number', 'movil', 'celular', 'driver_mobile', 'name', 'val', 'remark'])
      t.notMatch(JSON.stringify(scrubbed({ [key]: phone, sensors: [{ [key]: phone }] })), '1012345678', key)
  const names = scrubbed({ name: 4821, device_name: '4821', house_number: 4821, title: 1 }) as Record<string, unknown>
  t.same(names, { name: Number(names.device_name), device_name: names.device_name, house_number: names.name, title: 1 })
  t.not(names.name, 4821, 'a name that is a number')
  for (const id of ['501.0', ' 501', 'abc-501', '501,502', '-501'])
    for (const sent of [{ device_id: id }, { devices: id }, { user: { id } }])
      t.notMatch(JSON.stringify(scrubbed(sent)), /501|502/, JSON.stringify(sent))
  const [zeros, plain] = scrubbed([{ device_id: '0501' }, { device_id: '501' }]) as { device_id: string }[]
  t.equal(zeros?.device_id, `0${plain?.device_id}`, 'an id that the gateway reads nowhere stays one')
  t.same(findLeaks(scrub(hidings['under its name']?.('imei', '356938035643809') ?? exchange({}))), [])
})

t.test('what has the name of a credential or an identifier is replaced, whatever it looks like', async (t) => {
  const credentials =
    'passwd userPass api_token apihash api_key client_secret ott otp pin cvv sms_gateway_params authorization cookie'
  for (const key of credentials.split(' ')) {
    for (const [value, after] of [['on', 'scrubbed'] as const, [{ a: 1 }, null] as const, [12, null] as const])
      t.same(scrubbed({ [key]: value }), { [key]: after })
    t.match(findLeaks(exchange({ json: { [key]: 'on' } })), { length: 1 }, key)
  }
  const differs = (sent: unknown) => t.notSame(scrubbed(sent), sent, JSON.stringify(sent))
  const numbers = `imei uniqueId unique_id phone msisdn iccid plate_number registration_number rfid chassis serial whatsapp sim sim_number
    simNumber vin tel mobile user_id manager_id device_id traccar_device_id geofence_id devices geofences users`
  for (const key of numbers.split(/\s+/)) differs({ [key]: [12345] })
  const owners = 'user manager item device device_data geofence traccar users devices geofences'
  for (const key of owners.split(' ')) differs({ [key]: { id: 12345 } })
  const user = { ...exchange({ json: { id: 12345 } }), action: 'get_user_data' }
  t.notSame(scrub(user), user)
  const texts = `device_name title message detail description address driver owner comment note city street house road postal postcode zip s
    search plan geofence zone`
  for (const key of texts.split(/\s+/)) differs({ [key]: '12345' })
})

t.test('the platform has no word that looks like an address, a position, a serial number or a name', async (t) => {
  const secrets = ['192.168.1.77', '41.387917/2.169919', 'wvwzzz1jzxw000001', '00-1a-2b-3c-4d-5e', 'ivan.petrov']
  for (const secret of secrets)
    for (const key of ['id', 'protocol', 'status', 'type', 'version'])
      t.notMatch(JSON.stringify(scrubbed({ [key]: secret })), secret, `${key} ${secret}`)
  const types = ['harsh_acceleration2', 'overspeeding_80', 'coban.tk103', 'online.svg', '3.7.2.1', 'gt06', '#ff0000']
  for (const type of types) t.same(scrubbed({ type, protocol: type }), { type, protocol: type })
  const times = { last_contact: 1_700_000_000, contact_since: '1700000000' }
  t.same(scrubbed(times), times)
})

t.test('no part of an address is left, nor the id of its place in a public map', async (t) => {
  const place = { place_id: 235467891, osm_id: 4237817, importance: 0.41, type: 'lopez', parts: ['12', { house: 47 }] }
  const address = { ...place, lat: 41.387917, lng: 2.169919, token: 'abc' }
  for (const json of [{ status: 1, location: address }, [address], { 0: { address } }]) {
    const [response] = scrub({ action: 'geo_address', query: {}, responses: [{ json }] }).responses
    const after = JSON.stringify(response)
    t.notMatch(after, /235467891|4237817|0\.41|lopez|"12"|:47|41\.38|2\.169|abc/)
    if ('status' in json)
      t.match(response, { json: { status: 1, location: scrubbed({ lat: 41.387917, lng: 2.169919 }) } })
  }
})

t.test('a redirect keeps its path, and one to a login page still leads to one', async (t) => {
  for (const [sent, kept] of [
    ['https://fleet.test/user/login?next=/501', '/user/login'],
    ['//fleet.test/login', '/login'],
    ['login', '/login'],
    ['https://fleet.test/index.php/login', '/login'],
    ['/en/Login2/authentication/7', '/login'],
    ['https://login.test/x/501#/login', '/'],
    ['https://fleet.test/transportes-lopez/login', '/login'],
    ['/pepe_garcia/x', '/'],
    ['/lopez/authentication/create', '/login'],
  ] as const) {
    const [response] = scrub(exchange({ status: 302, headers: { location: sent } })).responses
    t.equal(response?.headers?.location, kept, sent)
  }
})

t.test('no cell tower, which has a known place, is left in a recording', async (t) => {
  for (const name of ['mcc', 'mnc', 'lac', 'cid', 'cell', 'cell_id', 'cellId']) {
    const json = { [name]: 21_407 }
    for (const sent of [json, JSON.stringify(json), `<info><${name}>21407</${name}></info>`, [`${name}: 21407`]])
      t.notMatch(JSON.stringify(scrubbed({ other_arr: sent })), '21407', name)
  }
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

t.test('a letter that is written as an HTML entity or a JSON escape is replaced under every key', async (t) => {
  const texts = [
    '&#1040;&#1085;&#1085;&#1072; 12',
    '&#x410;&#X43d;&#x43D;&#x430;',
    '\\u0410\\u043d\\u043D\\u0430',
    '&amp;#1040;',
  ]
  for (const text of texts)
    for (const key of ['value', 'remark', 'name'])
      t.notMatch(JSON.stringify(scrubbed({ [key]: text })), /&|\\|анн|12/i, `${key} ${text}`)
  const json = { note: Array.from(hash, (char) => `&#${char.charCodeAt(0)};`).join(''), value: '&#9999999;' }
  t.ok(findLeaks(exchange({ json }), [hash]).includes('$.responses[0].json.note: the live credential'))
})

t.test('a secret that was not scrubbed is rejected; the message names its place but not the secret', async (t) => {
  const cases: Record<string, unknown> = {
    'a password hash': { note: hash },
    'an API key': { note: `gps_live_${'5d0b'.repeat(12)}` },
    'the live credential': { note: Buffer.from(`xx${hash}`).toString('base64') },
    'an e-mail address outside example.com': { note: 'mail%20ops%40fleet.test' },
    'a digit of another script': { note: 'x٠٥٥' },
    '15 digits like a real IMEI': { note: 356938035643809 },
    'a credential in a text': { note: '{"password":"hunter22"}' },
  }
  for (const [what, json] of Object.entries(cases)) {
    const leaks = findLeaks(exchange({ json }), [hash])
    t.ok(leaks.includes(`$.responses[0].json.note: ${what}`), what)
    t.notMatch(leaks.join(), /fleet\.test|hunter|3569|5d0b/)
  }
  for (const before of ['', '/', 'a/', 'ab/']) {
    const json = { note: before + Buffer.from(hash).toString('base64') }
    t.ok(findLeaks(exchange({ json }), [hash]).join().includes('the live credential'), `behind "${before}"`)
  }
  const asName = findLeaks(exchange({ json: { [hash]: { token: 'abc' } } }))
  t.notOk(asName.join().includes(hash), 'also as a name')
  t.match(findLeaks(exchange({ json: { token: 'abc' } })), only(/json\.token: a credential by its name/))
  t.match(findLeaks(exchange({ json: {} }, { s: encodeURIComponent(hash) }), [hash]), only(/live credential/, /hash/))
  t.match(findLeaks(exchange({ json: { type: 'abcdefgh' } }), ['AbCdEfGh']), only(/live credential/), 'in lower case')
  const harmless = { note: 'ops@example.com 990000000000501', password: 'scrubbed', token: null, secrets: [] }
  t.same(findLeaks(exchange({ json: { can_change_password: true, note: 'Sent to ops@example.com.' } })), [])
  t.same(findLeaks(exchange({ json: harmless })), [])
})

t.test('a number beside a name is replaced under every key, and a reading with its unit stays', async (t) => {
  for (const secret of ['1234 BCD', 'Dr. Jones 5551234', 'Haus 4711', '48°08\'13.8"N', 'دكتور 5551234']) {
    const digits = secret.replace(/\D/g, '')
    const after = String((scrubbed({ value: secret }) as { value: string }).value)
    t.not(after.replace(/\D/g, ''), digits, `${secret} is ${after}`)
  }
  const kept = { id: '105000090', time: '26.11.2026 14:03', date: '5/11/2026', value: '321176.445', power: '12 V' }
  t.same(scrubbed(kept), kept)
  const readings = { value: '3.2 bar', sensor: '12 psi', left: 'Odometer Left (1788 km)', expires: 'Expired 6d.' }
  const numbers = (record: unknown): string => JSON.stringify(record).replace(/[^\d."]/g, '')
  t.equal(numbers(scrubbed(readings)), numbers(readings))
})
