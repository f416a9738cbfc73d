/** Unknown platform values: each row is counted, each value reported once. */
import t from 'tap'
import { UnknownValues } from '../../src/ops/unknown-values.js'

function watched() {
  const counted: string[] = []
  const reported: object[] = []
  const values = new UnknownValues({
    onUnknown: (action, field) => void counted.push(`${action} ${field}`),
    onFirst: (found) => void reported.push(found),
  })
  return { values, counted, reported }
}

t.test('every row with an unknown value is counted, the value is reported once', async (t) => {
  const { values, counted, reported } = watched()
  values.check('get_alerts', [{ type: ' Teleport' }, { type: 'teleport' }, { type: 'sos' }])
  values.check('get_events', [{ type: 'teleport' }])
  values.check('get_alerts', [{ type: 'TELEPORT' }])
  t.strictSame(counted, ['get_alerts type', 'get_alerts type', 'get_events type', 'get_alerts type'])
  t.strictSame(reported, [
    { action: 'get_alerts', field: 'type', value: 'teleport' },
    { action: 'get_events', field: 'type', value: 'teleport' },
  ])
})

t.test('known values, missing values and other actions are not reported', async (t) => {
  const { values, counted } = watched()
  const types = ['zone_in', 'service_expired', 'service', 'driver_authorized', 'ignition_off', 'sos', 'expired_sim']
  const known: [action: string, field: string, values: string[]][] = [
    ['get_devices', 'online', ['Ack ']],
    ['get_events', 'type', types],
    ['get_alerts', 'type', ['SOS']],
    ['get_geofences', 'type', ['circle']],
    ['services', 'expiration_by', ['days']],
  ]
  for (const [action, field, sent] of known)
    values.check(action, [{}, ...[...sent, '', ' ', null, 5].map((value) => ({ [field]: value }))])
  for (const action of ['get_history', 'constructor']) values.check(action, [{ type: 'teleport', online: 'x' }])
  t.strictSame(counted, [])
})

t.test('a reported value is truncated, and after 50 values they are only counted', async (t) => {
  const { values, counted, reported } = watched()
  values.check('get_alerts', [{ type: 'x'.repeat(1000) }])
  t.strictSame(reported, [{ action: 'get_alerts', field: 'type', value: 'x'.repeat(40) }])
  for (let at = 0; at < 99; at += 1) values.check('get_alerts', [{ type: `type ${at}` }])
  t.equal(reported.length, 50)
  t.equal(counted.length, 100)
})
