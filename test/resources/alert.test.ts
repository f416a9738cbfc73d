/** Alerts from platform rows. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireAlert } from '../../src/platform/wire.js'
import { toAlert } from '../../src/resources/alert.js'
import { check } from './rows.js'

const fleet = [
  { id: 318, name: 'Van 4' },
  { id: 31, name: 'Lorry 9' },
]
const name = (id: number) => fleet.find((device) => device.id === id)?.name
const alert = (raw: object) => toAlert(read(wireAlert, { id: 61, name: 'Rule', ...raw }), { all: () => fleet, name })

const old = { id: '61', active: '1', overspeed_speed: '95', overspeed_distance: '1', devices: ['31'], email: '' }
const inOut = { active: 1, name: 'Harbour watch', type: 'geofence_inout', notifications: [], devices: [318, 500] }
const same = { object: 'alert', id: 61, active: true, all_devices: false } as const
check('an alert of each platform has all documented fields (N01, N41, N42, N43)', alert, [
  ['2.x', old, { ...same, name: 'Rule', type: 'overspeed', types: ['overspeed'], devices: fleet.slice(1) }],
  ['3.x', inOut, { ...same, name: 'Harbour watch', devices: [fleet[0]!, { id: 500, name: '' }] }],
])

const types = (...types: string[]) => ({ type: types[0]!, types })
check("alert types are the documented words, any other is the platform's (N41, N42)", alert, [
  ['both directions', inOut, types('geofence_in', 'geofence_out')],
  ['on', { type: 'ignition', state: 1 }, types('ignition_on')],
  ['off', { type: 'ignition', state: '2' }, types('ignition_off')],
  ['both states', { type: 'ignition', state: 0 }, types('ignition_on', 'ignition_off')],
  ['no state', { type: 'ignition' }, types('ignition_on', 'ignition_off')],
  ['offline', { type: 'offline_duration' }, types('device_offline')],
  ['in any case', { type: 'SOS' }, types('sos')],
  ['another word', { type: 'ignition_duration' }, types('ignition_duration')],
  ['an inherited name', { type: 'constructor' }, types('constructor')],
  ['no type, no speed', { overspeed_speed: '0' }, types('custom')],
  ['nothing', {}, types('custom')],
])

check('flags and devices are read in every form, each device once (N43, N44, N51)', alert, [
  ...['0', 0, false].map((active): [string, object, object] => [`${active}`, { active }, { active: false }]),
  ['no flag', { notifications: { push: { active: '0' } } }, { active: true }],
  ['devices', { devices: [{ id: 318, name: 'x' }, { id: '31' }, 31, 'x', null] }, { devices: fleet }],
  ['numeric keys', { devices: { 2: 318 } }, { devices: fleet.slice(0, 1) }],
  ['no devices', { devices: {} }, { devices: [] }],
  ['for all', { for_all_user_devices: '1', devices: [31] }, { all_devices: true, devices: fleet }],
  ['not for all', { for_all_user_devices: '0', devices: [31] }, { all_devices: false, devices: fleet.slice(1) }],
  ['not known for all', { for_all_user_devices: null, devices: [31] }, { all_devices: false, devices: fleet.slice(1) }],
  ['without a name, its type', { name: null, type: 'sos' }, { name: 'sos', type: 'sos' }],
])

t.equal(alert({ id: undefined }), undefined, 'without a valid id there is no alert')
