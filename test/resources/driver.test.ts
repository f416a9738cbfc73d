/** Drivers from platform rows and the device list. */
import t from 'tap'
import { read } from '../../src/platform/shape.js'
import { wireDriver } from '../../src/platform/wire.js'
import { toDriver } from '../../src/resources/driver.js'

const names = new Map([
  [318, 'Van 4'],
  [31, 'Lorry 9'],
])
const current = new Map([
  [12, 318],
  [4, 31],
])
const devices = { name: (id: number) => names.get(id), withDriver: (driver: number) => current.get(driver) }
const driver = (raw: object) => toDriver(read(wireDriver, { id: 99, ...raw }), devices)

t.test('a driver of platform 2.x has its device in the row (N01, N49)', async (t) => {
  const device = { id: '31', name: 'Lorry nine' }
  const expected = { id: 1, name: 'Ann', phone: '', rfid: '', assigned_device_id: 31, assigned_device: 'Lorry nine' }
  t.strictSame(driver({ id: '1', device_id: '31', name: 'Ann', rfid: '', phone: '', device }), expected)
})

t.test('a driver of platform 3.x has the device that names the driver (N12, N49)', async (t) => {
  const same = { id: 12, phone: '+43 1 5550142', rfid: '7C21E9' }
  const expected = { ...same, name: 'Jo', assigned_device_id: 318, assigned_device: 'Van 4' }
  t.strictSame(driver({ ...same, name: ' Jo ', device_id: null, device: null }), expected)
})

t.test('missing text is empty and a missing vehicle is null (N49)', async (t) => {
  const none = { name: '', phone: '', rfid: '', assigned_device_id: null, assigned_device: null }
  t.strictSame(driver({ name: null, rfid: '-', phone: null }), { id: 99, ...none })
  const rows: [name: string, raw: object, id: number, device: string | null][] = [
    ['the device whose current driver it is', { id: 4 }, 31, 'Lorry 9'],
    ['a device that the list lacks', { device_id: 500 }, 500, null],
    ['a name from the list', { device_id: 31, device: [] }, 31, 'Lorry 9'],
    ['a nested name without an id', { device_id: 500, device: { name: 'Nested' } }, 500, 'Nested'],
    ['only a nested device', { device: { id: 31, name: 'Nested' } }, 31, 'Nested'],
    ['a nested name of another device is not used', { device_id: 31, device: { id: 5, name: 'Other' } }, 31, 'Lorry 9'],
    ['the row before the device list', { id: 12, device_id: 31 }, 31, 'Lorry 9'],
  ]
  for (const [name, raw, assigned_device_id, assigned_device] of rows)
    t.hasStrict(driver(raw), { assigned_device_id, assigned_device }, name)
  t.equal(driver({ id: 'x', name: 'Jo' }), undefined, 'no driver without a valid id')
})
