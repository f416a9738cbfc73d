/** A scrubbed exchange keeps its shape: which values become which. */
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { drift } from '../../src/replay/drift.js'
import { fileNameOf } from '../../src/replay/exchange.js'
import { findLeaks } from '../../src/replay/find-leaks.js'
import { readFolder } from '../../src/replay/folder.js'
import { Pseudonyms } from '../../src/replay/pseudonym.js'
import { hashOf } from '../../src/replay/replay.js'
import { buildScrub, withIds } from '../../src/replay/scrub.js'
import { only } from '../only.js'
import { accounts, exchange, fixtures, pseudonyms, scrub, scrubbed } from './folders.js'

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
    ...{ online: 'ack', type: 'geofence_in', time: '14-03-2026 10:21:07', timestamp: '1773480067', power: '-' },
    ...{ message: 'Overspeed (90 kph)', error: 'The from date field is required.', driver: null, group_id: '12' },
    ...{ distance_sum: '17.02 Km', stop_duration: '53h 58min 13s', total_distance: 48211.92, value: 'UTC +02:00' },
    services: [{ value: 'Odometer Left (1788 km)' }, { value: 'Engine hours Left (1000 )' }, { value: '6d.' }],
    ...{ center: { lat: 0, lng: '0' }, polygon_color: '#d000df', other: '<info><ignition>true</ignition></info>' },
    ...{ created_at: '2025-05-05T05:05:05.000000Z', expiration_date: '0000-00-00 00:00:00', icon_color: 'green' },
    ...{ expiration_by: 'engine_hours', shown_value_by: 'tag_value', next_page_url: '/api/get_services?page=2' },
    data: [{ id: 234567890 }],
  }
  t.same(scrubbed(platformText, scrub, 'get_events'), platformText)
})

t.test('a page becomes another page, and no other body has one', async (t) => {
  const bodies = [{ html: '<p>Falcon</p>' }, { json: { id: 1 } }, {}].map(
    (body) => scrub(exchange('x', {}, body)).responses[0],
  )
  t.match(bodies, only({ html: /^<!DOCTYPE html>/ }, { html: undefined }, { html: undefined }))
})

t.test('a member of any name and a number of any size keeps its place and kind', async (t) => {
  const names = '{"constructor": "driver", "toString": 1, "__proto__": {"valueOf": true}}'
  t.equal(JSON.stringify(scrubbed(JSON.parse(names))), JSON.stringify(JSON.parse(names)))
  const numbers = '{"x": 1e21, "serial": 1e22, "imei": 1e-7, "y": -1e300, "z": 1e400}'
  t.same(scrubbed(JSON.parse(numbers)), { x: 0, serial: 0, imei: 0, y: 0, z: 0 })
})

t.test('a name that people wrote, in any script, is no change of shape after scrubbing', async (t) => {
  const check = (name: string) =>
    t.same(drift(scrubbed({ fields: { [name]: 1 } }), { fields: { [name]: 1 } }), [], name)
  for (const name of ['площадка', 'descrição', '車両', '٣٤', '41.387917']) check(name)
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), check))
})

t.test('ids of users, devices and geofences become others, the same everywhere, and no two the same', async (t) => {
  const [{ id: device }, { user_id: user, geofence_id: fence }] = scrubbed([
    { id: 501, online: 'ack' },
    { user_id: 7, geofence_id: 81 },
  ]) as [{ id: number }, { user_id: number; geofence_id: number }]
  t.ok(device !== 501 && user !== 7 && fence !== 81)
  t.match([device, user, fence], [/^\d{3}$/, /^\d$/, /^\d\d$/])
  const forms: ((device: number, user: number, fence: number) => unknown)[] = [
    (id) => ({ id, online: 'ack', device_data: { id: `${id}` }, sensors: [{ id: 88, value: '1' }] }),
    (id, user) => ({ id, device_data: { users: [{ id: user }], manager: { id: user } } }),
    (_, user_id, id) => ({ geofences: [{ id, user_id }] }),
    (device, _, fence) => ({ alerts: [{ id: 3, devices: [device], geofences: [fence] }] }),
    (device_id, _, id) => ({ data: [{ id: 90417, device_id, geofence_id: id, geofence: { id } }] }),
    (id) => ({ url: `/api/get_services?device_id=${id}&page=1` }),
    (id, user, fence) => ({ device_ids: [id], deviceId: id, parent_user_id: user, geofence_ids: [`${fence}`] }),
    // Rows that are named by their ids.
    (id, user) => ({
      devices: { [id]: { id, name: '' } },
      alerts: [{ devices: { [id]: id } }],
      users: { [user]: user },
    }),
    // Lists that are sent as objects.
    (id) => ({ alerts: { 3: { devices: { 1: id } } } }),
    (_, user, id) => ({ geofences: { 1: { id } }, users: { 0: { id: user } } }),
  ]
  for (const form of forms) t.same(scrubbed(form(501, 7, 81), scrub, 'get_events'), form(device, user, fence))
  t.equal(scrub({ action: 'services/501', query: {}, responses: [{}] }).action, `services/${device}`)
  const names = ['id', 'id[]', 'id[1]', 'filters[id]', 'filter[id][]', 'device_id', 'devices[]']
  const idsIn = (id: string) => Object.fromEntries(names.map((name) => [name, id]))
  const recorded = scrub(exchange('get_devices', { ...idsIn('501'), 'sorting[sort_by]': 'title' }, {}))
  t.same(recorded.query, { ...idsIn(`${device}`), 'sorting[sort_by]': 'title' })
  t.match(withIds(recorded, () => 501).query, idsIn('501'), 'and the real ones again')
  const lists = { 'lat[]': '52.37', 'lng[1]': '4.89', 'password[]': 'secret', 'type[]': 'overspeed' }
  const scrubbedLists = { 'lat[]': '0', 'lng[1]': '0', 'password[]': 'scrubbed', 'type[]': 'overspeed' }
  t.same(scrub(exchange('get_events', lists, {})).query, scrubbedLists, 'a list as a single value of its name')
  const others = new Pseudonyms('x')
  for (const min of [1, 1_000, 1e14]) {
    const max = 10 * min - 1
    const ids = Array.from({ length: Math.min(9_000, max - min + 1) }, (_, n) => others.id(min + n))
    t.equal(new Set(ids).size, ids.length)
    t.ok(ids.every((id) => id >= min && id <= max))
    t.ok(ids.every((id, n) => others.originalId(id) === min + n))
  }
})

t.test('the id of a device or geofence without other fields becomes another in every layout of its list', async (t) => {
  const layouts: ((rows: unknown) => unknown)[] = [
    (data) => ({ status: 1, data }),
    (items) => ({ items }),
    (data) => ({ items: { total: 1, data } }),
    (items) => ({ items: JSON.stringify(items) }),
    (data) => ({ data, pagination: { total: 1 } }),
  ]
  // A group may have the id of a device, which it keeps.
  const groups: typeof layouts = [(items) => [{ id: 501, items }], (items) => ({ 3: { id: 501, items } })]
  const named: typeof layouts = [
    (geofences) => ({ items: { geofences }, status: 1 }),
    (data) => ({ items: { geofences: { data } } }),
    (data) => ({ geofences: { data } }),
  ]
  const lists = [
    (one: number, two: number) => [{ id: one }, { id: `${two}` }],
    (one: number, two: number) => ({ 0: { id: one }, 1: { id: two } }),
  ]
  const check = (action: string, form: (rows: unknown) => unknown) => {
    for (const list of lists) {
      const [sent, after] = [list(501, 81), list(pseudonyms.id(501), pseudonyms.id(81))].map(form)
      t.same(scrubbed(sent, scrub, action), after, `${action} ${JSON.stringify(sent)}`)
    }
  }
  for (const layout of layouts) check('get_devices', layout)
  for (const group of groups)
    for (const layout of [...layouts, (rows: unknown) => rows]) check('get_devices', (rows) => layout(group(rows)))
  for (const layout of [...layouts, ...named]) check('get_geofences', layout)
  const user = (id: number) => ({ status: 1, data: { id, email: 'ops@example.com' } })
  t.match(scrubbed(user(7), scrub, 'get_user_data'), { data: { id: pseudonyms.id(7) } })
})

t.test('a list that is sent as an object keeps each row, also where an index is the id of its row', async (t) => {
  for (const [name, rows] of [
    ['devices', { 0: 3, 1: 1, 2: 7 }],
    ['devices', { 1: { id: 1 }, 2: { id: 502 }, 3: { id: 77 } }],
    ['geofences', { 0: 5, 1: 9, 2: 2, 3: 4, 4: 11 }],
    ['names', { 1: '1', 2: '2', 3: '3' }],
  ] as const)
    t.same(Object.keys((scrubbed({ [name]: rows }) as Record<string, object>)[name] ?? {}), Object.keys(rows), name)
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
