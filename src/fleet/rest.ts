/** What other resources than the device itself are made of in a device row, as little JSON as there is to it. Knows no list. */
import { read } from '../platform/shape.js'
import { type WireDevice, wireDevice } from '../platform/wire.js'

/** Sensors that maintenance services are reckoned by. */
const COUNTERS = new Set(['odometer', 'engine_hours'])

/** What is kept of a row; `rowOfRest` makes a row of it. */
export function restOf(wire: WireDevice): unknown[] {
  const { driver_data: driver, device_data: own } = wire
  const counters = wire.sensors.filter(isCounter)
  return [
    ...[wire.id, wire.name, wire.distance_unit_hour, wire.unit_of_distance, wire.total_distance],
    ...[driver.id, driver.name, own.id, own.name, own.current_driver_id],
    ...[counters.length > 0 ? counters : 0, wire.services.length > 0 ? wire.services : 0],
    own.services.length > 0 ? own.services : 0,
  ]
}

const isCounter = ({ type }: WireDevice['sensors'][number]): boolean =>
  typeof type === 'string' && COUNTERS.has(type.trim().toLowerCase())

/** The row of a rest that was JSON since: without what only the device itself is made of. */
export function rowOfRest(rest: readonly unknown[]): WireDevice {
  const [id, name, distance_unit_hour, unit_of_distance, total_distance, ...more] = rest
  const [driverId, driverName, ownId, ownName, current_driver_id, sensors, services, ownServices] = more
  return read(wireDevice, {
    ...{ id, name, distance_unit_hour, unit_of_distance, total_distance, sensors, services },
    driver_data: { id: driverId, name: driverName },
    device_data: { id: ownId, name: ownName, current_driver_id, services: ownServices },
  })
}
