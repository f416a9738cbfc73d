/** Alerts from platform rows. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireAlert } from '../../src/platform/wire.js'
import { toAlert } from '../../src/resources/alert.js'

const fleet = [
  { id: 318, name: 'Van 4' },
  { id: 31, name: 'Lorry 9' },
]
const name = (id: number) => fleet.find((device) => device.id === id)?.name
const alert = (raw: object) => toAlert(read(wireAlert, { id: 61, name: 'Rule', ...raw }), { all: () => fleet, name })

t.test('an alert of platform 2.x has its type from its speed (N01, N41)', async (t) => {
  const ignored = { email: '', overspeed_distance: '1', ac_alarm: '0' }
  const raw = { id: '61', active: '1', name: 'Fast', overspeed_speed: '95', devices: ['31'], ...ignored }
  t.strictSame(alert(raw), {
    ...{ object: 'alert', id: 61, name: 'Fast', active: true, all_devices: false },
    ...{ type: 'overspeed', types: ['overspeed'], devices: [{ id: 31, name: 'Lorry 9' }] },
  })
  t.equal(alert({ overspeed_speed: '0' })?.type, 'custom')
  t.equal(alert({})?.type, 'custom')
})

t.test('an alert of platform 3.x in both directions has both types (N42, N43)', async (t) => {
  const raw = { active: 1, name: 'Harbour watch', type: 'geofence_inout', notifications: [], devices: [318, 500] }
  t.strictSame(alert(raw), {
    ...{ object: 'alert', id: 61, name: 'Harbour watch', active: true, all_devices: false },
    ...{ type: 'geofence_in', types: ['geofence_in', 'geofence_out'] },
    devices: [fleet[0], { id: 500, name: '' }],
  })
})

t.test("alert types are the documented words, any other is the platform's (N42)", async (t) => {
  const rows: [object, string[]][] = [
    [{ type: 'ignition', state: 1 }, ['ignition_on']],
    [{ type: 'ignition', state: '2' }, ['ignition_off']],
    [{ type: 'ignition', state: 0 }, ['ignition_on', 'ignition_off']],
    [{ type: 'ignition' }, ['ignition_on', 'ignition_off']],
    [{ type: 'offline_duration' }, ['device_offline']],
    [{ type: 'SOS' }, ['sos']],
    [{ type: 'geofence_out' }, ['geofence_out']],
    [{ type: 'ignition_duration' }, ['ignition_duration']],
    [{ type: 'constructor' }, ['constructor']],
  ]
  for (const [raw, types] of rows) t.strictSame([alert(raw)?.type, alert(raw)?.types], [types[0], types])
})

t.test('flags and devices are read in every form, each device once (N43, N44, N51)', async (t) => {
  for (const active of ['0', 0, false]) t.equal(alert({ active, notifications: null })?.active, false)
  t.equal(alert({ notifications: { push: { active: '1' } } })?.active, true)
  const devices = (raw: unknown) => alert({ devices: raw })?.devices.map(({ id }) => id)
  t.strictSame(devices([{ id: 318, name: 'x' }, { id: '31' }, 31, 'x', null]), [318, 31])
  t.strictSame(devices({ 2: 318 }), [318])
  t.strictSame(devices({}), [])
})

t.test('an alert without a name has its type as name; without a valid id there is none', async (t) => {
  t.hasStrict(alert({ name: null, type: 'sos' }), { name: 'sos', type: 'sos' })
  t.equal(alert({ id: undefined }), undefined)
})

t.test('an alert for all devices of the account lists them, whatever devices its row has', async (t) => {
  t.match(alert({ for_all_user_devices: '1', devices: [31] }), { all_devices: true, devices: fleet })
  for (const no of ['0', null])
    t.match(alert({ for_all_user_devices: no, devices: [31] }), { all_devices: false, devices: [fleet[1]] })
})
