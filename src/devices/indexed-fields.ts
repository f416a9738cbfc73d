/** The few fields of a device row by which a long list is sorted out, all else staying text. Knows no list. */
import type { Row } from '../lib/json-rows/row.js'
import type { DeviceState } from '../resources/device.js'
import type { DriverSource } from '../resources/driver.js'

/** What a row is sorted out by. */
export interface Signs {
  row: DeviceState & DriverSource
  listsServices: boolean
  showsServices: boolean
}

/** Where the signs are in a row. */
export const placesIn = (row: Row) => ({
  id: row.place('id'),
  online: row.place('online'),
  time: row.place('time'),
  timestamp: row.place('timestamp'),
  acktimestamp: row.place('acktimestamp'),
  speed: row.place('speed'),
  speedUnit: row.place('distance_unit_hour'),
  driver: row.place('driver_data.id'),
  ownId: row.place('device_data.id'),
  movingSpeed: row.place('device_data.min_moving_speed'),
  currentDriver: row.place('device_data.current_driver_id'),
  listedServices: row.place('device_data.services'),
  shownServices: row.place('services'),
})

export const signsOf = (row: Row, at: ReturnType<typeof placesIn>): Signs => ({
  row: {
    id: row.scalar(at.id),
    online: row.scalar(at.online),
    time: row.scalar(at.time),
    timestamp: row.scalar(at.timestamp),
    acktimestamp: row.scalar(at.acktimestamp),
    speed: row.scalar(at.speed),
    distance_unit_hour: row.scalar(at.speedUnit),
    driver_data: { id: row.scalar(at.driver) },
    device_data: {
      id: row.scalar(at.ownId),
      min_moving_speed: row.scalar(at.movingSpeed),
      current_driver_id: row.scalar(at.currentDriver),
    },
  },
  listsServices: row.has(at.listedServices),
  showsServices: row.has(at.shownServices),
})
