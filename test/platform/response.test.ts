/** Every answer a platform was seen or feared to give becomes data or one of three failures. */
import fc from 'fast-check'
import t from 'tap'
import { type Action, actions } from '../../src/platform/actions.js'
import { PlatformForbidden, PlatformRefused, PlatformUnavailable } from '../../src/platform/errors.js'
import { hasMore, pageOf } from '../../src/platform/pages.js'
import { dataOf, type RawAnswer } from '../../src/platform/response.js'
import { read, type Tally } from '../../src/platform/shape.js'
import { wireDevice } from '../../src/platform/wire.js'

const answer = (status: number, body: unknown = '', location?: string): RawAnswer => ({
  status,
  location,
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** `data`, `refused`, `forbidden`, or the reason the platform is unavailable. */
function verdict(action: Action, given: RawAnswer): string {
  try {
    dataOf(action, given)
    return 'data'
  } catch (error) {
    if (error instanceof PlatformRefused) return 'refused'
    if (error instanceof PlatformForbidden) return 'forbidden'
    if (error instanceof PlatformUnavailable) return error.reason
    throw error
  }
}

const cases: [name: string, action: Action, given: RawAnswer, expected: string][] = [
  [
    'N21 a device list that is an object with status 0',
    'get_devices',
    answer(200, { status: 0, message: 'Hash gone' }),
    'refused',
  ],
  [
    'N21 a device list that is an object with another trouble',
    'get_devices',
    answer(200, { status: 0, message: 'Busy' }),
    'status_0',
  ],
  ['a device list as a bare array', 'get_devices', answer(200, []), 'data'],
  ['a device list as a PHP array with gaps', 'get_devices', answer(200, { 1: { title: 'A', items: [] } }), 'data'],
  ['a device list in an envelope', 'get_devices', answer(200, { items: [] }), 'data'],
  ['N51 groups with numeric keys and a paginator', 'get_devices', answer(200, { 0: {}, pagination: {} }), 'data'],
  ['N52 user data without a status', 'get_user_data', answer(200, { email: 'a@example.com' }), 'data'],
  ['N52 user data with a status and no e-mail', 'get_user_data', answer(200, { status: 1 }), 'data'],
  ['user data with neither', 'get_user_data', answer(200, { plan: 'Fleet' }), 'wrong_shape'],
  ['a deactivated account', 'get_user_data', answer(200, { email: 'a@example.com', active: 0 }), 'refused'],
  ['a deactivated account told by its setup', 'edit_setup_data', answer(200, { item: { active: '0' } }), 'refused'],
  ['N53 401 with error', 'get_devices', answer(401, { status: 0, error: 'Unauthorized' }), 'refused'],
  ['N53 401 with message', 'get_devices', answer(401, { message: 'Unauthenticated.' }), 'refused'],
  ['N53 401 with errors', 'get_devices', answer(401, { errors: ['no'] }), 'refused'],
  ['N53 401 with nothing', 'get_devices', answer(401), 'refused'],
  ['N53 401 with HTML', 'get_devices', answer(401, '<html>'), 'refused'],
  ['419', 'get_devices', answer(419, 'page expired'), 'refused'],
  [
    'N54 200 with status 0 and an authentication text',
    'get_events',
    answer(200, { status: 0, error: 'Wrong user_api_hash' }),
    'refused',
  ],
  ['N54 200 with status false', 'get_events', answer(200, { status: false, message: 'Please log in' }), 'refused'],
  [
    'N54 200 with status "0" and the text in errors by field',
    'get_events',
    answer(200, { status: '0', errors: { user: ['account blocked'] } }),
    'refused',
  ],
  [
    'N54 200 with status 0 and any other text',
    'get_history',
    answer(200, { status: 0, message: 'Too many days' }),
    'status_0',
  ],
  ['status 0 beside data is data', 'get_alerts', answer(200, { status: 0, items: { alerts: [] } }), 'data'],
  ['N55 403', 'get_geofences', answer(403, { message: 'No permission' }), 'forbidden'],
  ['N56 302 to the login page', 'get_devices', answer(302, '', 'https://fleet.example.com/login?next=x'), 'refused'],
  ['N56 302 to the authentication page', 'get_devices', answer(302, '', '/authentication/create'), 'refused'],
  ['N56 302 to somewhere else', 'get_devices', answer(302, '', 'https://elsewhere.example.com/'), 'redirect'],
  ['N56 302 to nowhere', 'get_devices', answer(302), 'redirect'],
  ['N56 HTML with 200', 'get_devices', answer(200, ' <!DOCTYPE html><html></html>'), 'html'],
  ['N56 HTML with 503', 'get_devices', answer(503, '<h1>Be right back</h1>'), 'server_error'],
  ['N56 truncated JSON', 'get_devices', answer(200, '[{"title":"A","items":[{"id":'), 'bad_json'],
  ['N56 a byte order mark before JSON', 'get_devices', answer(200, '﻿[]'), 'data'],
  ['an empty body', 'get_devices', answer(200, ''), 'bad_json'],
  ['N57 422 on history', 'get_history', answer(422, { message: 'The from date field is required.' }), 'rejected'],
  ['400', 'get_history', answer(400, { status: 0, errors: {} }), 'rejected'],
  ['N48 404 on an action', 'services', answer(404, '<html>'), 'missing_action'],
  ['405 on an action', 'services', answer(405), 'missing_action'],
  ['429', 'get_devices', answer(429, { message: 'Too Many Attempts.' }), 'rate_limited'],
  ['500', 'get_devices', answer(500, {}), 'server_error'],
  ['502', 'get_devices', answer(502, '<html>'), 'server_error'],
  ['a number in place of an object', 'get_events', answer(200, 7), 'wrong_shape'],
  ['an array where an object belongs', 'get_events', answer(200, []), 'wrong_shape'],
  ['null', 'get_devices', answer(200, null), 'wrong_shape'],
]

t.test('each known answer of a platform means what it should', async (t) => {
  for (const [name, action, given, expected] of cases) t.equal(verdict(action, given), expected, name)
})

t.test('whatever a platform answers, it is data or one of the three failures', async () => {
  const names = Object.keys(actions) as Action[]
  fc.assert(
    fc.property(
      fc.constantFrom(...names),
      fc.integer({ min: 100, max: 599 }),
      fc.oneof(fc.string(), fc.json(), fc.constant('{"status":0}')),
      fc.option(fc.webUrl(), { nil: undefined }),
      (action, status, body, location) => typeof verdict(action, { status, body, location }) === 'string',
    ),
  )
})

t.test('no failure repeats a text of the platform', async (t) => {
  const secret = 'f00dcafe-in-the-body'
  for (const body of [
    `<p>${secret}`,
    `{"x": ${secret}`,
    `"${secret}"`,
    JSON.stringify({ status: 0, message: secret }),
  ]) {
    try {
      dataOf('get_devices', answer(200, body))
      t.fail('an answer without data must fail')
    } catch (error) {
      t.notMatch(`${error} ${(error as Error).cause ?? ''}`, secret)
    }
  }
})

t.test('every paginator layout reads as the same page', async (t) => {
  const meta = { total: '57', per_page: 30, current_page: '1', last_page: 2 }
  const rows = [{ id: 1 }]
  const layouts: [string, unknown, string | undefined][] = [
    ['items is the paginator', { status: 1, items: { ...meta, data: rows } }, undefined],
    ['items.<name> is the paginator', { status: 1, items: { drivers: { ...meta, data: rows } } }, 'drivers'],
    ['flat beside status', { status: 1, ...meta, data: rows, links: [] }, undefined],
    ['data beside pagination', { status: 1, data: rows, pagination: meta }, undefined],
  ]
  for (const [name, body, key] of layouts) {
    t.same(pageOf(body, key), { rows, total: 57, perPage: 30, currentPage: 1, lastPage: 2 }, name)
  }
  t.same(pageOf({ items: { geofences: rows } }, 'geofences').rows, rows, 'no paginator')
  t.same(pageOf({ items: [] }, 'geofences').rows, [], 'an empty list in place of the object that holds the rows')
})

t.test('a list is asked for further only while there can be more', async (t) => {
  const page = (rows: number, rest: object) => ({
    rows: Array.from({ length: rows }, () => ({})),
    total: undefined,
    perPage: undefined,
    currentPage: undefined,
    lastPage: undefined,
    ...rest,
  })
  t.ok(hasMore(page(30, { currentPage: 1, lastPage: 2 }), 30))
  t.notOk(hasMore(page(27, { currentPage: 2, lastPage: 2 }), 57))
  t.notOk(hasMore(page(0, { currentPage: 1, lastPage: 9 }), 0), 'an empty page ends a list, whatever the numbers say')
  t.ok(hasMore(page(30, { perPage: 30 }), 30), 'N33 without totals a full page may not be the last')
  t.notOk(hasMore(page(12, { perPage: 30 }), 42), 'N33 without totals a short page is the last')
  t.notOk(hasMore(page(5, {}), 5), 'a body without any numbers is the whole list')
})

t.test('rows that are no records are left out and counted, and the rest is kept', async (t) => {
  const tally: Tally = { skipped: 0 }
  const rows = read([wireDevice] as const, [{ id: 1 }, null, 'x', [], 7, { id: '2' }], tally)
  t.same(
    rows.map(({ id }) => id),
    [1, '2'],
  )
  t.equal(tally.skipped, 4)
})

t.test('only the fields that are read get past the border, and nothing inherited does', async (t) => {
  const [row] = read([wireDevice] as const, [JSON.parse('{"id":1,"imei":"990000000000001","__proto__":{"name":"x"}}')])
  t.notOk('imei' in (row ?? {}))
  t.equal(row?.name, undefined)
})
