/** Drivers from platform rows and the device list. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireDriver } from '../../src/platform/wire.js'
import { toDriver } from '../../src/resources/driver.js'
import { check } from './rows.js'

const names: Record<number, string> = { 318: 'Van 4', 31: 'Lorry 9' }
const current: Record<number, number> = { 12: 318, 4: 31 }
const devices = { name: (id: number) => names[id], withDriver: (driver: number) => current[driver] }
const driver = (raw: object) => toDriver(read(wireDriver, { id: 99, ...raw }), devices)

const on = (assigned_device_id: number, assigned_device: string | null) => ({ assigned_device_id, assigned_device })
const old = { id: '1', device_id: '31', rfid: '', phone: '', device: { id: '31', name: 'Lorry nine' } }
const jo = { id: 12, phone: '+43 1 5550142', rfid: '7C21E9' }
const none = { name: '', phone: '', rfid: '', assigned_device_id: null, assigned_device: null }
check('a driver has its texts, and the device of its row or of the device list (N01, N12, N49)', driver, [
  ['2.x', { ...old, name: 'Ann' }, { id: 1, name: 'Ann', phone: '', rfid: '', ...on(31, 'Lorry nine') }],
  ['3.x', { ...jo, name: ' Jo ', device_id: null, device: null }, { ...jo, name: 'Jo', ...on(318, 'Van 4') }],
  ['nothing', { name: null, rfid: '-', phone: null }, { id: 99, ...none }],
  ['the device whose current driver it is', { id: 4 }, on(31, 'Lorry 9')],
  ['a device that the list lacks', { device_id: 500 }, on(500, null)],
  ['a name from the list', { device_id: 31, device: [] }, on(31, 'Lorry 9')],
  ['a nested name without an id', { device_id: 500, device: { name: 'Nested' } }, on(500, 'Nested')],
  ['only a nested device', { device: { id: 31, name: 'Nested' } }, on(31, 'Nested')],
  [
    'a nested name of another device is not used',
    { device_id: 31, device: { id: 5, name: 'Other' } },
    on(31, 'Lorry 9'),
  ],
  ['the row before the device list', { id: 12, device_id: 31 }, on(31, 'Lorry 9')],
])

t.equal(driver({ id: 'x', name: 'Jo' }), undefined, 'no driver without a valid id')
