/** The fields of a device row that the worker indexes; everything else of the row stays text. */
import type { Row } from '../lib/json-rows/index.js'

/** The slots of the indexed fields in a row; the same for every row of one reader. */
export const slotsOf = (row: Row) => ({
  id: row.slot('id'),
  online: row.slot('online'),
  time: row.slot('time'),
  timestamp: row.slot('timestamp'),
  acktimestamp: row.slot('acktimestamp'),
  speed: row.slot('speed'),
  speedUnit: row.slot('distance_unit_hour'),
  driverId: row.slot('driver_data.id'),
  dataId: row.slot('device_data.id'),
  minMovingSpeed: row.slot('device_data.min_moving_speed'),
  serverTime: row.slot('device_data.traccar.time'),
  currentDriverId: row.slot('device_data.current_driver_id'),
  listedServices: row.slot('device_data.services'),
  shownServices: row.slot('services'),
})

export const indexedFieldsOf = (row: Row, slots: ReturnType<typeof slotsOf>) => ({
  /** As much of the row as decides its id, status, driver and last update. */
  row: {
    id: row.scalar(slots.id),
    online: row.scalar(slots.online),
    time: row.scalar(slots.time),
    timestamp: row.scalar(slots.timestamp),
    acktimestamp: row.scalar(slots.acktimestamp),
    speed: row.scalar(slots.speed),
    distance_unit_hour: row.scalar(slots.speedUnit),
    driver_data: { id: row.scalar(slots.driverId) },
    device_data: {
      id: row.scalar(slots.dataId),
      min_moving_speed: row.scalar(slots.minMovingSpeed),
      traccar: { time: row.scalar(slots.serverTime) },
      current_driver_id: row.scalar(slots.currentDriverId),
    },
  },
  /** Whether the row lists maintenance services as records (`device_data.services`). */
  listsServices: row.has(slots.listedServices),
  /** Whether the row has that list, which may be empty. */
  hasServiceList: row.isList(slots.listedServices),
  /** Whether the row lists maintenance services as texts (`services`). */
  showsServices: row.has(slots.shownServices),
})
