/** What the tests of devices share: the device of a row. */
import { read } from '../../src/platform/shape.js'
import { type WireDevice, wireDevice } from '../../src/platform/wire.js'
import { type Device, toDevice } from '../../src/resources/device.js'

export const now = Date.parse('2026-05-11T12:03:30Z')
export const seconds = now / 1000
export const fresh = seconds - 100
export const wire = (raw: object): WireDevice => read(wireDevice, raw)
export const device = (raw: object): Device => {
  const result = toDevice(wire({ id: 1, ...raw }), now)
  if (!result) throw new Error('no device')
  return result
}

/** The fields of the tracker server's own row. */
export const server = (traccar: object) => ({ device_data: { traccar } })
