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
  const known = { get_devices: 'online', get_events: 'type', get_alerts: 'type', get_geofences: 'type' }
  const samples = { get_devices: 'Ack ', get_events: 'zone_in', get_alerts: 'SOS', get_geofences: 'circle' }
  for (const [action, field] of Object.entries({ ...known, services: 'expiration_by' })) {
    const value = { ...samples, services: 'days' }[action]
    values.check(action, [{ [field]: value }, {}, { [field]: '' }, { [field]: ' ' }, { [field]: null }, { [field]: 5 }])
  }
  const types = ['service_expired', 'service', 'driver_authorized', 'ignition_off', 'sos', 'expired_sim']
  values.check(
    'get_events',
    types.map((type) => ({ type })),
  )
  for (const action of ['get_history', 'constructor']) values.check(action, [{ type: 'teleport', online: 'x' }])
  t.strictSame(counted, [])
})

t.test('a reported value is truncated, and after 50 values they are only counted', async (t) => {
  const { values, counted, reported } = watched()
  values.check('get_alerts', [{ type: 'x'.repeat(1000) }])
  t.strictSame(reported, [{ action: 'get_alerts', field: 'type', value: 'x'.repeat(40) }])
  values.check(
    'get_alerts',
    Array.from({ length: 99 }, (_, at) => ({ type: `type ${at}` })),
  )
  t.equal(reported.length, 50)
  t.equal(counted.length, 100)
})
