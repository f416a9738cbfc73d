/** Every known response of a platform becomes data or one of three failures. */
import t from 'tap'
import { type Action, actions, type Query } from '../../src/platform/actions.js'
import type { PlatformError } from '../../src/platform/errors.js'
import { dataOf, failureOfStatus, isSuccess } from '../../src/platform/response.js'
import { maps } from '../resources/rows.js'

/** The parameters of a call about one device. */
const queries: Partial<Record<Action, Query>> = { get_history: { device_id: 7 }, get_services: { device_id: 7 } }

/** `data`, or how the call failed. */
function outcome(
  action: Action,
  status: number,
  sent: unknown = '',
  location?: string,
  query = queries[action] ?? {},
): string {
  const body = typeof sent === 'string' ? sent : JSON.stringify(sent)
  if (!isSuccess(status)) return failureOfStatus(action, { status, location, body }).reason
  try {
    dataOf({ action, query }, body)
    return 'data'
  } catch (error) {
    return (error as PlatformError).reason
  }
}

const nested = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
const refusal = `{"status":0,"error":"token","items":${'{"a":'.repeat(10_000)}0${'}'.repeat(10_001)}`
const zero = { status: 0, errors: ['Wrong credentials.'] }

const cases: [name: string, action: Action, expected: string, status: number, body?: unknown, location?: string][] = [
  ['N21 an object with status 0', 'get_devices', 'refused', 200, { status: 0, message: 'Hash gone' }],
  ['N21 an object with another error', 'get_devices', 'status_0', 200, { status: 0, message: 'Busy' }],
  ['a device list as a bare array', 'get_devices', 'data', 200, []],
  ['a device list as a PHP array with gaps', 'get_devices', 'data', 200, { 1: { title: 'A', items: [] } }],
  ['a device list as an empty PHP array', 'get_devices', 'data', 200, {}],
  ['a device list in an envelope', 'get_devices', 'data', 200, { items: [] }],
  ['a device list in another envelope', 'get_devices', 'data', 200, { data: [] }],
  ['N51 groups with numeric keys and a paginator', 'get_devices', 'data', 200, { 0: {}, pagination: {} }],
  ['N52 user data without a status', 'get_user_data', 'data', 200, { email: 'a@example.com' }],
  ['N52 user data with a status and no e-mail', 'get_user_data', 'data', 200, { status: 1 }],
  ['user data with neither', 'get_user_data', 'wrong_shape', 200, { plan: 'Fleet' }],
  ['an empty e-mail', 'get_user_data', 'refused', 200, { status: 0, message: 'Unauthorized', email: ' ' }],
  ['a deactivated account', 'get_user_data', 'refused', 200, { email: 'a@example.com', active: 0 }],
  ['a deactivated account, by its setup', 'edit_setup_data', 'refused', 200, { item: { active: '0' } }],
  ['an active account', 'get_user_data', 'data', 200, { email: 'a@example.com', active: 1 }],
  ['an account without a flag', 'get_user_data', 'data', 200, { email: 'a@example.com', active: null }],
  ['a status as text', 'get_user_data', 'data', 200, { status: '1' }],
  ['a status that is none', 'get_user_data', 'wrong_shape', 200, { status: 2 }],
  ['user data in an array', 'get_user_data', 'wrong_shape', 200, []],
  ['a deactivated account, in an item', 'get_user_data', 'refused', 200, { email: 'a', item: { active: 0 } }],
  ['a setup without an item', 'edit_setup_data', 'wrong_shape', 200, { timezones: [], item: null }],
  ['a setup without a zone', 'edit_setup_data', 'wrong_shape', 200, { timezones: [], item: { active: 1 } }],
  ['a setup with a list of items', 'edit_setup_data', 'wrong_shape', 200, { item: [{ active: 0 }] }],
  ['a setup', 'edit_setup_data', 'data', 200, { item: { active: true, timezone_id: null } }],
  ['a history', 'get_history', 'data', 200, { items: [] }],
  ['a flag that is not of the account', 'get_alerts', 'data', 200, { active: 0, items: {} }],
  ['N53 error', 'get_devices', 'refused', 401, { status: 0, error: 'Unauthorized' }],
  ['N53 errors by field', 'get_devices', 'refused', 401, { errors: { user: ['no'] } }],
  ['N53 nothing', 'get_devices', 'foreign_refusal', 401],
  ['N53 HTML', 'get_devices', 'foreign_refusal', 401, '<html>401 Authorization Required'],
  ['N53 JSON that says nothing', 'get_devices', 'foreign_refusal', 401, { message: ' ', code: 1 }],
  ['N53 a JSON text', 'get_devices', 'foreign_refusal', 401, '"Unauthorized"'],
  ['419 of the platform', 'get_devices', 'refused', 419, { message: 'CSRF token mismatch.' }],
  ['N54 an authentication text', 'get_events', 'refused', 200, { status: 0, error: 'Wrong user_api_hash' }],
  ['N54 status false', 'get_events', 'refused', 200, { status: false, message: 'Please log in' }],
  ['N54 errors by field', 'get_events', 'refused', 200, { status: '0', errors: { user: ['account blocked'] } }],
  ['N54 an expired account', 'get_events', 'refused', 200, { status: 0, message: 'Account expired' }],
  ['N07 an expired device', 'get_history', 'status_0', 200, { status: 0, message: 'Device expired' }],
  ['N07 a blocked device', 'get_services', 'status_0', 200, { status: 0, message: 'The device is blocked' }],
  ['N54 a hash, asked for a device', 'get_history', 'refused', 200, { status: 0, message: 'Wrong user_api_hash' }],
  ['N54 any other text', 'get_history', 'status_0', 200, { status: 0, message: 'Too many days' }],
  ['N54 an authentication text, no data', 'get_devices', 'refused', 200, { ...zero, data: [] }],
  ['N54 the same beside an empty page', 'get_user_drivers', 'refused', 200, { ...zero, items: { a: { data: [] } } }],
  ['N54 the same beside 10,000 objects', 'get_events', 'refused', 200, refusal],
  ['N54 the same beside rows', 'get_user_drivers', 'data', 200, { ...zero, items: { a: { data: [{ id: 1 }] } } }],
  ['N54 the same beside an e-mail', 'get_user_data', 'data', 200, { ...zero, email: 'a@example.com' }],
  ['N54 any other text beside no data', 'get_events', 'data', 200, { status: 0, message: 'No events', items: [] }],
  ['status 0 beside data is data', 'get_alerts', 'data', 200, { status: 0, items: { alerts: [] } }],
  ['N57 sentences about parameters', 'get_history', 'rejected', 422, { message: 'The from date field is required.' }],
  ['an unknown action as a success', 'services', 'missing_action', 200, { statusCode: 404, message: 'Not found' }],
  ['N55 403', 'get_geofences', 'forbidden', 403, { message: 'No permission' }],
  ['N56 to the login page', 'get_devices', 'refused', 302, '', 'https://fleet.example.com/login?next=x'],
  ['N56 to the authentication page', 'get_devices', 'refused', 302, '', '/authentication/create'],
  ['N56 to somewhere else', 'get_devices', 'redirect', 302, '', 'https://elsewhere.example.com/'],
  ['N56 to a page whose name starts alike', 'get_devices', 'redirect', 302, '', '/loginless'],
  ['N56 to a host of that name', 'get_devices', 'redirect', 302, '', 'https://login.example.com/maintenance'],
  ['N56 to a page from which it returns', 'get_devices', 'redirect', 302, '', '/maintenance?return=/login'],
  ['N56 to no address', 'get_devices', 'redirect', 302, '', 'http://[/login'],
  ['a location matters to a redirect only', 'get_devices', 'data', 200, [], '/login'],
  ['N56 HTML with 200', 'get_devices', 'html', 200, ' <!DOCTYPE html><html></html>'],
  ['N56 truncated JSON', 'get_devices', 'bad_json', 200, '[{"title":"A","items":[{"id":'],
  ['N56 a byte order mark before JSON', 'get_devices', 'data', 200, '\ufeff[]'],
  ['N56 a byte order mark before a refusal', 'get_devices', 'refused', 401, '\ufeff{"error":"Unauthorized"}'],
  ['an empty body', 'get_devices', 'bad_json', 200],
  ['a number in place of an object', 'get_events', 'wrong_shape', 200, 7],
  ['an array where an object belongs', 'get_events', 'wrong_shape', 200, []],
  ['null', 'get_devices', 'wrong_shape', 200, null],
  ['10,000 lists in one another', 'get_alerts', 'wrong_shape', 200, `{"statusCode":${nested}}`],
]

t.test('a device that is expired or blocked is no refusal of the account, whatever is asked about it', async (t) => {
  const ofOne = (action: Action, query: Query, message: string) =>
    outcome(action, 200, { status: 0, message }, undefined, query)
  for (const [action, query] of [
    ['get_devices', { id: 7 }],
    ['get_events', { device_id: 7, type: undefined }],
  ] as const) {
    for (const message of ['Device expired', 'blocked', 'deactivated'])
      t.equal(ofOne(action, query, message), 'status_0')
    for (const message of ['Wrong hash', 'Your account has expired', 'Subscription expired'])
      t.equal(ofOne(action, query, message), 'refused')
    t.equal(ofOne(action, { page: 2, device_id: undefined }, 'Account expired'), 'refused', 'asked about all')
  }
})

t.test('each known response has its outcome', async (t) => {
  for (const [name, action, expected, ...parts] of cases) t.equal(outcome(action, ...parts), expected, name)
})

maps('every status has one meaning', (status: number) => outcome('get_devices', status, []), [
  ['data', 200, 201, 206, 299],
  ['redirect', 300, 304, 308, 399],
  ['foreign_refusal', 401, 403, 419],
  ['missing_action', 404, 405],
  ['rate_limited', 429],
  ['rejected', 400, 402, 406, 409, 418, 420, 422, 428, 430, 451, 499],
  ['server_error', 199, 500, 502, 503, 504, 520, 599],
])

const deep = { message: { a: { b: { c: { d: 'token' } } } } }
const ofEvents = (body: object) => outcome('get_events', 200, { status: 0, ...body })
maps('a failure with status 0 is a refusal when any of its texts is about authentication', ofEvents, [
  ['refused', { error: 'TOKEN gone' }, { errors: [['x'], { user: ['Unauthorized'] }] }, { message: 'Log in' }],
  ['status_0', {}, { error: null }, { detail: 'token' }, deep, { error: 1, errors: [null] }],
  ['wrong_shape', { status: 1, error: 'token' }, { status: undefined, error: 'token' }],
])

t.test('an action whose response has a fixed shape accepts no other', async (t) => {
  // An address is text of any shape, and types of events that cannot be read are none: both have readers of their own.
  const names = (Object.keys(actions) as Action[]).filter((name) => !/address|event_types/.test(name))
  for (const action of names) {
    t.equal(outcome(action, 200, { other: [] }), 'wrong_shape', action)
    t.equal(outcome(action, 200, '"text"'), 'wrong_shape', action)
  }
  t.equal(outcome('get_devices', 200, { a1: [], '1a': [] }), 'wrong_shape')
})

t.test('each list is recognised in every layout of its page, and an error is none', async (t) => {
  const lists: [action: Action, name: string, unusual: string][] = [
    ['get_events', 'events', 'data'],
    ['get_user_drivers', 'drivers', 'data'],
    ['get_geofences', 'geofences', 'data'],
    ['get_alerts', 'alerts', 'data'],
    ['services', 'services', 'items'],
    ['get_services', 'services', 'items'],
  ]
  const [rows, busy, pagination] = [[{ id: 1 }], { message: 'Busy' }, { total: 1 }]
  const text = JSON.stringify(rows)
  for (const [action, name, unusual] of lists) {
    const page = { total: 1, data: rows }
    const pages = [page, { items: page }, { [name]: page }, { items: { [name]: page } }, { 3: rows[0], pagination }]
    for (const body of [...pages, { data: text }, { items: text }, { ...page, pagination }])
      t.equal(outcome(action, 200, body), 'data', `${name}: ${JSON.stringify(body)}`)
    for (const body of [busy, { ...busy, other: [] }, { ...busy, [unusual]: null }, { ...busy, [unusual]: 'none' }]) {
      t.equal(outcome(action, 200, body), 'wrong_shape', `${name}: ${JSON.stringify(body)}`)
      t.equal(outcome(action, 200, { ...body, status: 0 }), 'status_0')
    }
  }
})

t.test('an error beside a list that holds nothing is an error, and a success is an empty list', async (t) => {
  const lists: [action: Action, key: string][] = [
    ...(['items', 'data', 'pagination'] as const).map((key): [Action, string] => ['get_devices', key]),
    ...(['get_geofences', 'get_events', 'get_history', 'get_alerts', 'get_user_drivers'] as const).map(
      (action): [Action, string] => [action, 'items'],
    ),
    ['services', 'data'],
    ['get_services', 'data'],
  ]
  const errors: [expected: string, body: object][] = [
    ['status_0', { status: 0, message: 'Busy' }],
    ['status_0', { status: false }],
    ['wrong_shape', { success: false }],
    ['wrong_shape', { error: 'Database unavailable' }],
    ['wrong_shape', { status: 'error', message: 'Server Error' }],
    ['refused', { status: 0, message: 'Unauthorized' }],
  ]
  for (const [action, key] of lists) {
    for (const nothing of [null, false, '', 'n/a']) {
      for (const [expected, error] of errors)
        t.equal(outcome(action, 200, { ...error, [key]: nothing }), expected, `${action} ${JSON.stringify(error)}`)
      for (const success of [
        ...[{}, { message: ' ' }, { status: 1, message: 'OK' }, { status: true, errors: ['none'] }],
        ...[
          { success: true, message: 'Done' },
          { status: 'success', message: 'Done' },
          { status: 200, message: 'OK' },
        ],
      ])
        t.equal(outcome(action, 200, { ...success, [key]: nothing }), 'data', `${action} ${JSON.stringify(success)}`)
    }
    for (const message of ['No data found', 'No alerts', ' no events were found.']) {
      for (const status of [0, undefined])
        t.equal(outcome(action, 200, { status, message, [key]: null }), 'data', message)
      t.equal(outcome(action, 200, { status: 0, message, [key]: [] }), 'data', message)
    }
    t.equal(outcome(action, 200, { status: 0, message: 'No data plan', [key]: null }), 'status_0')
    t.equal(outcome(action, 200, { status: 0, message: 'Busy', [key]: [] }), 'status_0')
    if (key !== 'pagination') t.equal(outcome(action, 200, { status: 0, [key]: [] }), 'data', 'without a text')
  }
  const paginator = { error: 'Database unavailable', data: null, pagination: { total: 0 } }
  t.equal(outcome('get_devices', 200, paginator), 'wrong_shape')
  t.equal(outcome('get_geofences', 200, { status: 0, message: 'Busy', items: { geofences: null } }), 'status_0')
})

t.test('no failure holds a text of the platform', async (t) => {
  const secret = 'f00dcafe-in-the-body'
  const bodies = [`{"status":0,"message":"${secret}"}`, `{"${secret}":[],"a b":"${secret}"}`]
  for (const body of [`<p>${secret}`, `{"x": ${secret}`, `"${secret}"`, ...bodies]) {
    const error = (await t.rejects(async () => dataOf({ action: 'get_devices', query: {} }, body))) as Error
    t.notMatch(`${error} ${error.cause ?? ''}`, secret)
  }
})
