/** Unknown platform values: which are counted, and how many are reported. */
import t from 'tap'
import { unknownValues } from '../../src/ops/unknown-values.js'

function watched() {
  const counted: string[] = []
  const reported: object[] = []
  const values = unknownValues(
    { inc: ({ action, field }) => void counted.push(`${action} ${field}`) },
    { warn: (found: object) => void reported.push(found) },
  )
  return { values, counted, reported }
}

t.test('known values, missing values and other actions are not reported', async (t) => {
  const { values, counted } = watched()
  const types = ['zone_in', 'service_expired', 'service', 'driver_authorized', 'ignition_off', 'sos', 'expired_sim']
  const known: [action: string, field: string, values: string[]][] = [
    ['get_devices', 'online', ['Ack ']],
    ['get_events', 'type', types],
    ['get_alerts', 'type', ['SOS']],
    ['get_geofences', 'type', ['circle']],
  ]
  for (const [action, field, sent] of known)
    values.check(action, [{}, ...[...sent, '', ' ', null, 5].map((value) => ({ [field]: value }))])
  values.check('services', [{ expiration_by: 'days' }])
  for (const action of ['get_history', 'constructor']) values.check(action, [{ type: 'teleport', online: 'x' }])
  t.strictSame(counted, [])
})

t.test('a service without a unit is reported, as its amounts may be misread', async (t) => {
  const { values, counted, reported } = watched()
  values.check('services', [{}, { expiration_by: { code: 'days' } }, { expiration_by: 'days' }])
  t.strictSame(counted, Array(2).fill('services expiration_by'))
  t.strictSame(reported, [{ action: 'services', field: 'expiration_by', value: 'no expiration_by' }])
})

t.test('a reported value is truncated, and after 50 values further ones are only counted', async (t) => {
  const { values, counted, reported } = watched()
  const actions = ['get_alerts', 'get_events']
  for (const action of actions) values.check(action, [{ type: 'x'.repeat(1000) }])
  const value = 'x'.repeat(40)
  t.strictSame(reported, [
    { action: 'get_alerts', field: 'type', value },
    { action: 'get_events', field: 'type', value },
  ])
  for (let at = 0; at < 98; at += 1) values.check('get_alerts', [{ type: `type ${at}` }])
  t.equal(reported.length, 50)
  t.equal(counted.length, 100)
})
