/** A list that is truly empty stays one; a response that holds rows and yields none is a changed platform. */
import t, { type Test } from 'tap'
import { changedError, checkedHistory, checkedPage, checkGroups } from '../../src/platform/changed.js'
import { read } from '../../src/platform/shape.js'
import { wireHistory } from '../../src/platform/wire.js'
import { isDisplayTime } from '../../src/resources/display-time.js'
import { failureOf, jobs } from '../devices/worker.js'
import { isUnavailable } from '../faults.js'
import { type Bodies, someHash } from '../helper.js'
import { only } from '../only.js'
import { device, faulty, pageIn, sendsBy, sound } from './faulty.js'

type Row = [name: string, body: unknown, expected: RegExp, page?: number]
/** Of each body the check must say `ok`, or name this detail of a failure. */
const outcomes = (title: string, check: (body: unknown, page?: number) => unknown, rows: Row[]) =>
  t.test(title, async (t) => {
    for (const [name, body, expected, page] of rows) {
      const checked = (async () => check(body, page))()
      const found = await checked.then(
        () => 'ok',
        (error) => error.detail ?? String(error),
      )
      t.match(found, expected, name)
    }
  })

const rows = [{ id: 1 }, { id: '2' }]
const numbers = { total: 137, per_page: 50, current_page: 1 }
const nested = JSON.parse(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)

const page = (body: unknown, number = 1) => checkedPage('get_events', body, number)
outcomes('a page is accepted unless it holds rows, or says that there are some, and yields none', page, [
  ['rows', { items: { ...numbers, data: rows } }, /^ok$/],
  ['half of the rows without an id', { data: [{ key: 1 }, { id: 2 }] }, /^ok$/],
  ['no rows', { items: [] }, /^ok$/],
  ['no rows in an object', { items: {} }, /^ok$/],
  ['no rows at all', { items: null }, /^ok$/],
  ['a total of 0', { items: { total: 0, per_page: 50, current_page: 1, data: [] } }, /^ok$/],
  ['a total of 0 without rows', { items: { total: '0' } }, /^ok$/],
  ['numeric keys, and none on this page', { status: 1, pagination: { total: 0 } }, /^ok$/],
  ['numeric keys, none on this page, and texts', { pagination: { page: 2 }, errors: ['x'] }, /^ok$/],
  ['numeric keys, and none where rows should be', { pagination: { total: 2 } }, /^no rows/],
  ['no rows as JSON text', { items: ' [ ] ' }, /^ok$/],
  ['words in place of rows', { items: 'No events' }, /^ok$/],
  ['a number in place of rows', { items: 12 }, /^no rows; fields: none$/],
  ['broken JSON text', { items: { data: '[{"id":1' } }, /^no rows; fields: none$/],
  ['JSON text of another object', { items: JSON.stringify({ fences: rows }) }, /^no rows; fields: fences$/],
  ['a page past the end', { items: { ...numbers, current_page: 4, data: [] } }, /^ok$/, 4],
  ['a page past the end, of size 0', { items: { total: 137, per_page: 0, current_page: 4, data: [] } }, /^ok$/, 4],
  ['a page past the end without numbers', { items: { total: 9, data: [] } }, /^ok$/, 2],
  ['one bad row on the last page', { items: { data: [{ key: 7 }] } }, /^ok$/, 3],
  ['`data` renamed, no total', { items: { current_page: 1, rows } }, /^no rows; fields: current_page, rows$/],
  ['`data` renamed on page 2', { items: { ...numbers, current_page: 2, rows } }, /^no rows/, 2],
  ['`data` renamed beside the numbers', { rows, pagination: { page: 1 } }, /^no rows; fields: rows, pagination$/],
  ['the same with a total', { rows, pagination: { total: 2 } }, /^no rows; fields: rows, pagination$/],
  ['an empty page of numeric keys beside links', { pagination: { page: 2 }, links: [{ url: null }] }, /^ok$/],
  ['a total without rows', { items: { ...numbers, data: [] } }, /^no rows/],
  ['`id` renamed on page 2', { items: [{ key: 1 }, { key: 2 }] }, /^no id in any row/, 2],
  ['`id` unusable', { items: [{ id: 0 }, { id: null }, { id: 'x' }, { id: [] }] }, /^no id in any row/],
  ['rows that are no records', { items: [1, 'x'] }, /^no id in any row; fields: none$/],
  ['an `id` of 10,000 lists in one another', { items: [{ id: nested }, { id: 2 }] }, /^ok$/],
])

const groups = (sent: unknown) => checkGroups('get_devices', sent)
outcomes('groups are accepted unless none of them has items', groups, [
  ['no groups', [], /^ok$/],
  ['no groups in an object', {}, /^ok$/],
  ['groups without rows', [{ title: 'A', items: [] }, { title: 'B' }], /^ok$/],
  ['groups with numeric keys', { 4: { items: {} } }, /^ok$/],
  ['words in place of groups', 'No devices', /^ok$/],
  ['no items at all', [{ items: null }], /^ok$/],
  ['no items, as a number or JSON text', [{ items: 0 }, { items: ' [ ] ' }], /^ok$/],
  ['a number in place of groups', 12, /^no groups; fields: none$/],
  ['a number in place of items', [{ items: 12 }], /^no items in any group/],
  ['a text in place of items', [{ items: 'eJyrrgUAAXUA+Q==' }], /^no items in any group/],
  ['`items` became another object', [{ items: { list: rows } }], /^no items in any group/],
  ['devices in place of groups', rows, /^no items in any group; fields: id$/],
  ['the list renamed', { list: [{ items: rows }] }, /^no groups; fields: list$/],
  ['texts in place of groups', ['x'], /^no items in any group; fields: none$/],
  ['groups as broken JSON text', '[{"items":', /^no groups; fields: none$/],
  ['items as broken JSON text', [{ items: '[{"id":1' }], /^no items in any group; fields: items$/],
])

const point = { lat: 1, lng: 2, raw_time: 'soon', time: '12-05-2026 08:00:00' }
const drive = { status: '1', items: [point, { lat: 1, lng: 2 }] }
const none = { ...drive, items: [] }
const other = { status: 9, items: [point] }
const timeless = { status: 1, items: [{ ...point, time: 1778572800 }] }
const nowhere = { status: 1, items: [{ ...point, lat: null, lng: null }] }
const history = (items: unknown) => checkedHistory(read(wireHistory, { items }), { items }, isDisplayTime)
outcomes('a history is accepted unless no group is of a known kind, or no point has a readable time', history, [
  ['no groups', [], /^ok$/],
  ['some groups of another kind', [other, drive], /^ok$/],
  ['no known kind', [{ status: 'drive', items: [point] }, other], /^no status in any group; fields: status, items$/],
  ['no points', [none], /^ok$/],
  ['a record among points of another form', [{ ...drive, items: [[1778572800, 1, 2], point] }], /^ok$/],
  ['points as lists', [{ ...drive, items: [[1778572800, 1, 2]] }], /^no record in any point$/],
  ['points as ids', [{ ...drive, items: { 4: 11 } }], /^no record in any point$/],
  ['points as texts', [none, { ...drive, items: ['a,b'] }], /^no record in any point$/],
  ['only an event without a place', [{ ...nowhere, status: 5 }], /^ok$/],
  ['only a drive without a place', [nowhere, { ...drive, status: 5 }], /^no latitude or longitude in any point$/],
  ['no readable time', [timeless], /^no raw_time or time in any point$/],
])

t.test('a failure names fields, and no key that may be data', async (t) => {
  const found = { id: 1, 'a@example.com': 1, $2y$10$abc: 1, 'Van 7': 1, 12: 1, ['x'.repeat(40)]: 1 }
  t.equal(changedError('get_devices', 'items', found).message, 'get_devices: wrong_shape (no items; fields: id)')
})

const all: Bodies = { ...sound, get_user_data: { email: 'owner@example.com' } }

const historyPath = '/v1/history/7?from=2026-05-01&to=2026-05-02'
const devicePaths = '/v1/devices /v1/devices/7 /v1/devices/7/location /v1/alerts /v1/services'.split(' ')
type Structure = [action: string, fields: string[], paths: string[]]
const structure: Structure[] = [
  ['get_user_data', ['email'], ['/v1/me', '/v1/devices']],
  ['edit_setup_data', ['item', 'timezone_id'], ['/v1/events?from=2026-05-01T00:00:00Z', '/v1/services']],
  ['get_devices', ['items', 'id'], [...devicePaths, historyPath]],
  ['get_geofences', ['items', 'geofences', 'id'], ['/v1/geofences', '/v1/geofences/5']],
  ['get_events', ['items', 'events', 'data', 'id'], ['/v1/events', '/v1/events?limit=1&offset=1']],
  ['get_history', ['items', 'status', 'latitude', 'longitude', 'raw_time'], [historyPath]],
  ['get_alerts', ['items', 'alerts', 'id'], ['/v1/alerts']],
  ['services', ['services', 'data', 'id'], ['/v1/services']],
  ['get_user_drivers', ['items', 'drivers', 'data', 'id'], ['/v1/drivers']],
]

/** Renames each field of each action in turn, on a platform that is sound otherwise. */
async function renameEach(t: Test, sound: Bodies, structure: Structure[]): Promise<void> {
  const { become, lines, metrics, get, clock, ticks } = await faulty(t, { ACCOUNT_TTL_MS: '1000' })
  const health = async (): Promise<string> => (await get('/health')).body.components.platform
  const reasons = (): string[] => lines('outage begins', 'outage has another reason').map(({ reason }) => reason)
  const fresh = (path: string) => {
    clock.advance(2_000)
    return get(path, someHash)
  }
  for (const [action, fields, paths] of structure) {
    for (const field of fields) {
      const renamed = JSON.stringify(sound[action]).replaceAll(`"${field}":`, `"${field}_v2":`)
      become({ ...sound, [action]: renamed })
      const logged = reasons().length
      for (const path of paths) {
        isUnavailable(t, await fresh(path), `${action}.${field}: ${path}`)
        t.equal(await health(), 'down')
      }
      const [reason, ...more] = reasons().slice(logged)
      t.match(
        reason,
        new RegExp(`${action}: wrong_shape \\(.*fields: .*(${field}_v2|item,)`),
        'the log names action and fields',
      )
      t.same(more, [], `in one line for ${action}.${field}`)
      become(sound)
      // After this the next failure is another outage.
      ticks.advance(10_000)
      for (const path of paths) t.equal((await fresh(path)).status, 200, `${action}.${field} is back: ${path}`)
      t.equal(await health(), 'up')
    }
    t.match(await metrics(), new RegExp(`action="${action}",outcome="wrong_shape"} [1-9]`))
  }
}

t.test('a changed platform: 503 for whatever needs a renamed field, and recovery without a restart', async (t) => {
  await renameEach(t, all, structure)
  const { services, ...older } = all
  await renameEach(t, { ...older, get_services: services }, [
    ['get_services', ['services', 'data', 'id'], ['/v1/services']],
  ])
})

t.test('services in the device list without any id are a failure, those of one device may be bad', async (t) => {
  const { become, get, clock, lines } = await faulty(t)
  const services = [{ key: 8 }, { key: 9 }]
  become({ get_devices: [{ items: [{ ...device, device_data: { services } }] }], get_user_data: all.get_user_data })
  clock.advance(2)
  isUnavailable(t, await get('/v1/services', someHash), 'of all devices')
  t.equal(lines('outage begins').at(-1)?.reason, 'get_devices: wrong_shape (no id in any service)')
  t.match(await get('/v1/services?device_id=7', someHash), { status: 200, body: { count: 0 } })
})

t.test('no data is an empty list, and rows beside an unreadable one are served', async (t) => {
  const { become, get, clock } = await faulty(t)
  const none: Bodies = {
    get_devices: [],
    get_geofences: { items: {} },
    get_events: { items: { data: [], total: 0 } },
    get_alerts: { items: { alerts: [] } },
    services: { data: [], pagination: { total: 0 } },
    get_user_drivers: { items: { drivers: { data: [], total: 0 } } },
  }
  become(none)
  clock.advance(2)
  for (const name of ['devices', 'geofences', 'events', 'alerts', 'services', 'drivers'])
    t.match(await get(`/v1/${name}`, someHash), { status: 200, body: { count: 0, data: only() } }, name)
  const half = [device, { ...device, id: null }]
  become({ ...none, get_devices: [{ items: half }], get_geofences: { items: [{ id: 5 }, { key: 6 }] } })
  clock.advance(2)
  t.match(await get('/v1/devices', someHash), { status: 200, body: { count: 1, data: only({ id: 7 }) } })
  t.match(await get('/v1/geofences', someHash), { status: 200, body: { count: 1, data: only({ id: 5 }) } })
})

t.test('a later page without any device in its rows is a failure, never the end of the list', async (t) => {
  let bad: object[] = []
  const rows = (page: number, length: number) => Array.from({ length }, (_, at) => ({ id: 100 * page + at }))
  const { devices } = await jobs(
    t,
    sendsBy((query) => [{ items: [rows(1, 100), bad, rows(3, 50)][pageIn(query) - 1] ?? [] }]),
  )
  for (const length of [2, 100]) {
    bad = Array(length).fill({ key: 7 })
    t.equal(await failureOf(devices()), 'wrong_shape', `${length} rows`)
  }
  bad = [{ key: 7 }]
  const { ids, skippedRows } = await devices()
  t.same([ids.length, skippedRows], [100, 1], 'one bad row is skipped and counted')
})

t.test(
  'bad rows at the end of a list are skipped, also if the platform sends them as a page of their own',
  async (t) => {
    const all = [...Array.from({ length: 20 }, (_, at) => ({ id: at + 1 })), ...Array(3).fill({ id: null })]
    const pages = sendsBy((query) => {
      const [limit, page] = [Number(query.get('limit') ?? 100), pageIn(query)]
      return [{ items: all.slice((page - 1) * limit, page * limit) }]
    })
    const { devices } = await jobs(t, pages)
    t.equal((await devices()).ids.length, 20)
  },
)

t.test('where all requests for single devices fail, health says down and no call counts as a success', async (t) => {
  const { become, devicesOf, get, metrics, ticks } = await faulty(t)
  become({ get_devices: { foo: 1 } })
  ticks.advance(60_000)
  for (const hash of [someHash, someHash.replace('ab', 'xy'), someHash])
    isUnavailable(t, await devicesOf(hash, 7), hash)
  t.equal((await get('/health')).body.components.platform, 'down')
  t.match(await metrics(), 'action="get_devices",outcome="ok"} 1\n', 'the one before')
})
