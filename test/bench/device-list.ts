/** An invented device list of a platform, 3.4 kB a device, for measurements. */

const stamp = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')

function sensor(id: number, type: string, name: string, value: string) {
  const flags = { show_in_popup: 1, hidden: null, text_on: null, text_off: null, color: null }
  return { id, type, name, ...flags, value, val: value.split(' ')[0], scale_value: null }
}

function deviceData(id: number, name: string, at: number) {
  const empty = {
    sim_number: '',
    msisdn: null,
    device_model: '',
    vin: '',
    registration_number: '',
    object_owner: '',
    additional_notes: '',
  }
  const fuel = {
    fuel_measurement_id: 1,
    fuel_quantity: '0.00',
    fuel_price: '0.00',
    fuel_per_km: '0.00',
    fuel_per_h: '0.00',
  }
  const pivot = { user_id: 31, device_id: id, group_id: id % 9, current_driver_id: null, active: 1, timezone_id: null }
  return {
    ...{
      id,
      user_id: null,
      traccar_device_id: id - 3,
      icon_id: 12,
      active: 1,
      deleted: 0,
      name,
      imei: `99${String(id).padStart(13, '0')}`,
    },
    ...{
      ...fuel,
      ...empty,
      plate_number: `ZZ ${id}`,
      expiration_date: null,
      tail_color: '#2244aa',
      tail_length: 5,
      engine_hours: 'gps',
    },
    ...{
      detect_engine: 'gps',
      min_moving_speed: 6,
      min_fuel_fillings: 10,
      min_fuel_thefts: 10,
      snap_to_road: 0,
      gprs_templates_only: 0,
    },
    ...{
      valid_by_avg_speed: 1,
      parameters: '["sat","hdop","battery","odo"]',
      currents: null,
      created_at: stamp(at - 9e6),
      updated_at: stamp(at),
    },
    ...{
      forward: null,
      stop_duration: 300,
      pivot,
      group_id: id % 9,
      current_driver_id: null,
      users: [{ id: 31, email: 'x@example.com' }],
    },
    traccar: {
      ...{
        id: id - 3,
        name,
        uniqueId: `99${id}`,
        latestPosition_id: 800000 + id,
        lastValidLatitude: 48.1,
        lastValidLongitude: 9.2,
      },
      ...{
        other: '<info><sat>11</sat><hdop>0.8</hdop><odo>1200345</odo></info>',
        speed: '31.00',
        time: stamp(at),
        device_time: stamp(at),
      },
      ...{
        server_time: stamp(at),
        ack_time: stamp(at),
        altitude: 411,
        course: 12,
        power: null,
        address: null,
        protocol: 'zeta',
      },
      latest_positions: '48.1/9.2;48.11/9.21;48.12/9.22;48.13/9.23;48.14/9.24',
    },
  }
}

function device(id: number) {
  const name = `Wagen ${id}`
  const at = 1780000000 + id
  const nobody = {
    id: null,
    user_id: null,
    device_id: null,
    name: null,
    rfid: null,
    phone: null,
    email: null,
    created_at: null,
  }
  const tail = Array.from({ length: 8 }, (_, step) => ({
    lat: (48 + (id % 97) / 7 + step / 911).toFixed(8),
    lng: (9 + step / 813).toFixed(8),
  }))
  return {
    ...{
      id,
      alarm: 0,
      name,
      online: id % 3 ? 'online' : 'offline',
      time: stamp(at),
      timestamp: at,
      acktimestamp: at,
      lat: 48 + (id % 9973) / 9973,
    },
    ...{
      lng: 9 + (id % 8111) / 8111,
      course: id % 360,
      speed: id % 90,
      altitude: 411,
      icon_type: 'arrow',
      icon_color: 'green',
    },
    icon_colors: { moving: 'green', stopped: 'yellow', offline: 'red', engine: 'yellow' },
    icon: {
      id: 12,
      user_id: null,
      type: 'icon',
      order: 1,
      width: 48,
      height: 32,
      path: 'images/icons/12.png',
      by_status: 0,
    },
    ...{ power: '-', address: '-', protocol: 'zeta', driver: '-', driver_data: nobody },
    sensors: [
      sensor(id, 'acc', 'Zündung', 'An'),
      sensor(id + 1, 'battery', 'Batterie', '12.4 V'),
      sensor(id + 2, 'odometer', 'Strecke', '1200 km'),
    ],
    services: [{ id: 4, name: 'Öl', value: 'Odometer Left (812 km)', expiring: false }],
    tail,
    ...{
      distance_unit_hour: 'kph',
      unit_of_distance: 'km',
      unit_of_altitude: 'mt',
      unit_of_capacity: 'lt',
      stop_duration: '5min 2s',
    },
    ...{
      stop_duration_sec: 302,
      moved_timestamp: at,
      engine_status: true,
      detect_engine: 'acc',
      engine_hours: 'gps',
      total_distance: 48211.92 + id,
    },
    ...{ inaccuracy: null, sim_expiration_date: null, device_data: deviceData(id, name, at) },
  }
}

/** As PHP writes JSON: ASCII only, slashes escaped. */
const asPhp = (json: string) =>
  json.replaceAll('/', '\\/').replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** The whole answer of a platform with that many devices. */
export function deviceList(devices: number): Buffer {
  const groups = Array.from({ length: Math.ceil(devices / 1000) }, (_, group) => ({
    id: group,
    title: `Gruppe ${group}`,
    items: Array.from({ length: Math.min(1000, devices - group * 1000) }, (_, at) => device(group * 1000 + at + 1)),
  }))
  return Buffer.from(asPhp(JSON.stringify(groups)))
}
