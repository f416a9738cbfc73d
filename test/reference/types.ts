export interface paths {
  '/health': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the state of the service
     * @description 200 as long as the gateway serves requests. Needs no credential; not rate limited.
     */
    get: operations['getHealth']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/devices': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List devices
     * @description The devices of the account by id, with their last known state. As GeoJSON, a page leaves out devices without a position, but they still count.
     */
    get: operations['listDevices']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/devices/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get a device
     * @description One device with its last known state, without the list envelope.
     */
    get: operations['getDevice']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/devices/{id}/location': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the last position of a device
     * @description Only position and movement. A device that never had a position is 404 `no_location`.
     */
    get: operations['getDeviceLocation']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/geofences': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List geofences
     * @description The geofences of the account, without their geometry; as GeoJSON, with it.
     */
    get: operations['listGeofences']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/geofences/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get a geofence with its geometry
     * @description The list item with its GeoJSON geometry, without the list envelope.
     */
    get: operations['getGeofence']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/events': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List events
     * @description Events, newest first: exactly the window of `limit` and `offset`, or a 400 if it takes too many calls to the platform. If the platform does not count what matches, `count` can be too low. To follow what happens, send the last id you have as `after_id`.
     */
    get: operations['listEvents']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/history/{device_id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the history of a device
     * @description Positions, trips, stops, events and totals over whole days of the account's clock, both included. The maximum number of days is 31. With `format=geojson`, the response is the track: a feature with `times` in place of `positions`.
     */
    get: operations['getHistory']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/alerts': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List alerts
     * @description The configured rules of the account, each with the devices it is assigned to.
     */
    get: operations['listAlerts']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/services': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List maintenance services
     * @description All maintenance services and when each is due: by odometer (km), engine hours (h) or days.
     */
    get: operations['listServices']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/drivers': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List drivers
     * @description The drivers of the account, each with the currently assigned vehicle.
     */
    get: operations['listDrivers']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/me': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * Get the account of the credential
     * @description The account and kind of the credential, at low cost: use it to check a credential.
     */
    get: operations['getMe']
    put?: never
    post?: never
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/keys': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    /**
     * List active API keys
     * @description Newest first, with truncated values. Requires the platform hash. After a password change, `usable` shows which keys to renew.
     */
    get: operations['listKeys']
    put?: never
    /**
     * Create an API key, or renew keys
     * @description The response holds the complete key, which is not shown again. Send the platform hash in the body. In each window an account creates at most a fifth as many keys as it may send requests.
     *
     *     A password change replaces the platform hash, and keys stop working. With `renew` and the new hash, exactly those keys work again, and the response is a list of them, a `KeyList`, as `GET /v1/keys` returns it. If one of them cannot be renewed, none is. After a 503, some may be renewed: send the request again.
     */
    post: operations['createKey']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
  '/v1/keys/{id}': {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    post?: never
    /**
     * Revoke an API key
     * @description Immediate and irreversible. Requires the platform hash.
     */
    delete: operations['revokeKey']
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export interface webhooks {
  fleetEvent: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    get?: never
    put?: never
    /**
     * Planned: the service sends an event to your URL
     * @description **Planned, not available yet.** No webhook can be registered and none is sent today; registration, signing and retries are undecided. Until then poll `GET /v1/events`.
     */
    post: operations['plannedFleetEvent']
    delete?: never
    options?: never
    head?: never
    patch?: never
    trace?: never
  }
}
export interface components {
  schemas: {
    /** @description A configured rule that generates events */
    Alert: {
      /**
       * @description Always `alert`
       * @constant
       */
      object: 'alert'
      /**
       * Format: int64
       * @description Unique alert identifier
       */
      id: number
      /** @description Name given to the alert */
      name: string
      /** @description `overspeed`, `geofence_in`, `geofence_out`, `ignition_on`, `ignition_off`, `sos`, `device_offline`, or the platform's own word for any other rule */
      type: string
      /** @description All types that the rule covers; more than one for a geofence or ignition rule in both directions */
      types: string[]
      /** @description Whether the rule is enabled */
      active: boolean
      /** @description Whether the rule covers all devices of the account, later ones too */
      all_devices: boolean
      /** @description The devices the rule is assigned to */
      devices: components['schemas']['AlertDevice'][]
    }
    AlertDevice: {
      /**
       * Format: int64
       * @description Device identifier
       */
      id: number
      /** @description Device name; empty if unknown */
      name: string
    }
    /** @description The items, with the applied paging */
    AlertList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Alert'][]
    }
    /** @description Body of the request for a new API key */
    CreateKey: {
      /** @description The account's platform credential */
      platform_hash: string
      /** @description Descriptive name in any script, without control characters; leading and trailing spaces are removed */
      label?: string
      /** @description Days until the key expires; 365 if omitted */
      expires_in_days?: number
      /** @description Ids of active keys of the account that work again with this platform hash, after a password change. No key is created: send neither `label` nor `expires_in_days` */
      renew?: string[]
    }
    /** @description A new API key, with its complete value */
    CreatedKey: {
      /**
       * @description Always `api_key`
       * @constant
       */
      object: 'api_key'
      /**
       * Format: uuid
       * @description Identifier of the key; not a secret
       */
      id: string
      /** @description The complete key; not shown again */
      key: string
      /** @description Descriptive name; empty without one */
      label: string
      /**
       * Format: int64
       * @description When it was created, in epoch milliseconds
       */
      created_at: number
      /**
       * Format: int64
       * @description When it expires, in epoch milliseconds
       */
      expires_at: number
      /** @description E-mail of the owning account; null if unknown */
      platform_email: string | null
      /** @description Human-readable text */
      message: string
    }
    /** @description A vehicle with its last known state */
    Device: {
      /**
       * Format: int64
       * @description Unique device identifier
       */
      id: number
      /** @description Name given to the vehicle */
      name: string
      /** @description IMEI of the tracker; null if unknown */
      imei: string | null
      /** @description Number plate; null if unknown */
      plate_number: string | null
      /** @description Vehicle identification number; null if unknown */
      vin: string | null
      /** @description Number of the SIM card; null if unknown */
      sim_number: string | null
      /**
       * @description `moving` is connected and driving, `online` is connected, `offline` is not connected or never seen
       * @enum {string}
       */
      status: 'online' | 'offline' | 'moving'
      /** @description Tracker protocol in lower case; null if unknown */
      protocol: string | null
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84); null without a position
       */
      lat: number | null
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84); null without a position
       */
      lng: number | null
      /**
       * Format: double
       * @description Speed in km/h
       */
      speed: number
      /**
       * Format: double
       * @description Degrees; 0 is north, 90 is east. 0 too if the platform sends none
       */
      course: number
      /**
       * Format: double
       * @description Metres above sea level; 0 if the platform sends none
       */
      altitude: number
      /** @description When data was last received, as the platform shows it (the last fix or a later sign of life; null if never or unknown), as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      last_seen: string | null
      /**
       * Format: int64
       * @description Unix seconds of the last fix; without one, of the last sign of life; 0 if unknown. `last_seen` may be later
       */
      timestamp: number
      /** @description Whether the ignition is on; null if the platform does not say */
      ignition: boolean | null
      /**
       * Format: double
       * @description Odometer in km, else the platform's own total distance; null if unknown
       */
      odometer_km: number | null
      /**
       * Format: double
       * @description Engine hours of a sensor that states hours, minutes or seconds; null if unknown
       */
      engine_hours: number | null
      /**
       * Format: int64
       * @description Unix seconds of the last movement; null if unknown
       */
      moved_at: number | null
      /**
       * Format: int64
       * @description How long the vehicle has stood still, in seconds; null if unknown
       */
      stopped_seconds: number | null
      /**
       * Format: int64
       * @description How long the engine has idled, in seconds; null if unknown
       */
      idle_seconds: number | null
      /** @description Name of the assigned driver; null if none */
      driver: string | null
      /**
       * Format: int64
       * @description Id of the assigned driver; null if none
       */
      driver_id: number | null
      /** @description Approximate address; null if the platform has none */
      address: string | null
      /** @description Additional sensors */
      sensors: components['schemas']['Sensor'][]
      /** @description Name of the device group */
      group: string
    }
    DeviceCollection: {
      /** @constant */
      type: 'FeatureCollection'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      features: {
        /** @constant */
        type: 'Feature'
        /** Format: int64 */
        id: number
        geometry: components['schemas']['Point']
        properties: components['schemas']['Device']
      }[]
    }
    /** @description The items, with the applied paging */
    DeviceList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Device'][]
    }
    /** @description A driver, with the assigned vehicle */
    Driver: {
      /**
       * Format: int64
       * @description Unique driver identifier
       */
      id: number
      /** @description Full name; empty if unknown */
      name: string
      /** @description Contact phone; empty if unknown */
      phone: string
      /** @description RFID identification code; empty if unknown */
      rfid: string
      /**
       * Format: int64
       * @description The currently assigned vehicle; null without one
       */
      assigned_device_id: number | null
      /** @description Name of that vehicle; null if unknown or without one */
      assigned_device: string | null
    }
    /** @description The items, with the applied paging */
    DriverList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Driver'][]
    }
    Error: {
      /**
       * @description What went wrong, for programs
       * @enum {string}
       */
      error:
        | 'invalid_request'
        | 'unauthorized'
        | 'invalid_token'
        | 'forbidden'
        | 'not_found'
        | 'no_location'
        | 'method_not_allowed'
        | 'too_many_keys'
        | 'payload_too_large'
        | 'uri_too_long'
        | 'unsupported_media_type'
        | 'rate_limit_exceeded'
        | 'headers_too_large'
        | 'internal_error'
        | 'gateway_error'
      /** @description What went wrong, for people */
      message: string
      /** @description Link to the explanation; not on a 429 */
      docs?: string
      /** @description The parameter or field a 400 is about */
      param?: string
    }
    /** @description Something that happened to a device */
    Event: {
      /**
       * Format: int64
       * @description Unique event identifier
       */
      id: number
      /** @description The platform's word for the kind of event, in lower case, such as `overspeed` */
      type: string
      /**
       * @description What happened, independent of the platform's words
       *
       *     | `kind` | Meaning | The platform's `type` | Also in the filter |
       *     |---|---|---|---|
       *     | `geofence.enter` | Entered a geofence | `zone_in` | `geofence_in` |
       *     | `geofence.exit` | Left a geofence | `zone_out` | `geofence_out` |
       *     | `speed.exceeded` | Drove faster than the limit set in an alert | `overspeed` | `speeding`, `speed_exceeded` |
       *     | `ignition.on` | Ignition switched on | `ignition_on` |  |
       *     | `ignition.off` | Ignition switched off | `ignition_off` |  |
       *     | `device.offline` | Sent nothing for the time set in an alert | `offline_duration` | `device_offline` |
       *     | `harsh.brake` | Braked harshly: a `custom` event whose message says so |  | `harsh_brake` |
       *     | `harsh.acceleration` | Accelerated harshly: a `custom` event whose message says so |  | `harsh_accel` |
       *     | `alarm.triggered` | Panic button, or another event that the account has defined | `sos`, `custom` |  |
       *     | `maintenance.due` | A maintenance service is due or overdue | `service*` | `maintenance_due` |
       *     | `stop` | Stopped for the time set in an alert | `stop_duration` |  |
       *     | `idle` | Stood with the engine running for the time set in an alert | `idle_duration` |  |
       *     | `move.start` | Started to move | `move_start` |  |
       *     | `driver.changed` | Another driver, or one without authorization | `driver*` |  |
       *     | `fuel.filled` | Refuelled | `fuel_fill` |  |
       *     | `fuel.stolen` | Fuel drained | `fuel_theft` |  |
       *     | `power.cut` | Tracker unplugged from its power supply | `unplugged` |  |
       *     | `other` | Any other word of the platform | `*` |  |
       * @enum {string}
       */
      kind:
        | 'geofence.enter'
        | 'geofence.exit'
        | 'speed.exceeded'
        | 'ignition.on'
        | 'ignition.off'
        | 'device.offline'
        | 'harsh.brake'
        | 'harsh.acceleration'
        | 'alarm.triggered'
        | 'maintenance.due'
        | 'stop'
        | 'idle'
        | 'move.start'
        | 'driver.changed'
        | 'fuel.filled'
        | 'fuel.stolen'
        | 'power.cut'
        | 'other'
      /** @description Human-readable text */
      message: string
      /**
       * Format: int64
       * @description The device it happened to; null if unknown
       */
      device_id: number | null
      /** @description Name of that device; empty if unknown */
      device: string
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84); null without a position
       */
      lat: number | null
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84); null without a position
       */
      lng: number | null
      /**
       * Format: double
       * @description Speed in km/h; null if unknown
       */
      speed: number | null
      /** @description Approximate address; null if the platform has none */
      address: string | null
      /**
       * Format: int64
       * @description The alert that generated it; null if unknown
       */
      alert_id: number | null
      /** @description The geofence it is about; null if none */
      geofence: components['schemas']['EventGeofence'] | null
      /** @description When it happened (null if unknown), as `YYYY-MM-DD HH:MM:SS` as the platform writes it; its time zone is unknown */
      timestamp: string | null
    }
    EventGeofence: {
      /**
       * Format: int64
       * @description Geofence id; null if unknown
       */
      id: number | null
      /** @description Name of the geofence; null if unknown */
      name: string | null
    }
    /** @description The items, with the applied paging */
    EventList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Event'][]
    }
    /** @description An area on the map */
    Geofence: {
      /**
       * Format: int64
       * @description Unique geofence identifier
       */
      id: number
      /** @description Name given to the geofence */
      name: string
      /** @description Shape in lower case: `polygon`, `circle` or another word of the platform */
      type: string
      /** @description Whether the geofence is enabled */
      active: boolean
      /** @description Colour as `#RRGGBB`; `#000000` if none is set */
      color: string
      /** @description When it was created (null if unknown), as `YYYY-MM-DD HH:MM:SS` as the platform writes it; its time zone is unknown */
      created_at: string | null
    }
    GeofenceCollection: {
      /** @constant */
      type: 'FeatureCollection'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      features: {
        /** @constant */
        type: 'Feature'
        /** Format: int64 */
        id: number
        /** @description GeoJSON (RFC 7946): `Polygon`, or `Point` for the centre of a circle. Null if the platform has no usable shape: fewer than three different corners, an unusable corner, a circle without a centre, or another type */
        geometry: components['schemas']['Polygon'] | components['schemas']['Point'] | null
        properties: {
          /**
           * Format: int64
           * @description Unique geofence identifier
           */
          id: number
          /** @description Name given to the geofence */
          name: string
          /** @description Shape in lower case: `polygon`, `circle` or another word of the platform */
          type: string
          /** @description Whether the geofence is enabled */
          active: boolean
          /** @description Colour as `#RRGGBB`; `#000000` if none is set */
          color: string
          /** @description When it was created (null if unknown), as `YYYY-MM-DD HH:MM:SS` as the platform writes it; its time zone is unknown */
          created_at: string | null
          /**
           * Format: double
           * @description Radius of a circle in metres; null for other shapes
           */
          radius: number | null
        }
      }[]
    }
    /** @description A geofence with its geometry */
    GeofenceDetail: {
      /**
       * Format: int64
       * @description Unique geofence identifier
       */
      id: number
      /** @description Name given to the geofence */
      name: string
      /** @description Shape in lower case: `polygon`, `circle` or another word of the platform */
      type: string
      /** @description Whether the geofence is enabled */
      active: boolean
      /** @description Colour as `#RRGGBB`; `#000000` if none is set */
      color: string
      /** @description When it was created (null if unknown), as `YYYY-MM-DD HH:MM:SS` as the platform writes it; its time zone is unknown */
      created_at: string | null
      /** @description GeoJSON (RFC 7946): `Polygon`, or `Point` for the centre of a circle. Null if the platform has no usable shape: fewer than three different corners, an unusable corner, a circle without a centre, or another type */
      geometry: components['schemas']['Polygon'] | components['schemas']['Point'] | null
      /**
       * Format: double
       * @description Radius of a circle in metres; null for other shapes
       */
      radius: number | null
    }
    /** @description The items, with the applied paging */
    GeofenceList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Geofence'][]
    }
    /** @description State of the service according to recent calls */
    Health: {
      /**
       * @description `degraded` while a component is down
       * @enum {string}
       */
      status: 'ok' | 'degraded'
      /** @description Version of the API */
      version: string
      /**
       * Format: int64
       * @description Seconds since the gateway started
       */
      uptime_s: number
      components: {
        /**
         * @description The tracking platform according to the last calls; unknown before the first one
         * @enum {string}
         */
        platform: 'up' | 'down' | 'unknown'
        /**
         * @description The store of API keys according to the last calls; unknown before the first one
         * @enum {string}
         */
        store: 'up' | 'down' | 'unknown'
      }
    }
    /** @description Positions, trips, stops, events and totals of a device over whole days */
    History: {
      /**
       * @description Always `history`
       * @constant
       */
      object: 'history'
      /**
       * Format: int64
       * @description The requested device
       */
      device_id: number
      /**
       * @description First day, `YYYY-MM-DD` on the account's clock
       * @example 2026-05-11
       */
      from: string
      /**
       * @description Last day, `YYYY-MM-DD` on the account's clock
       * @example 2026-05-12
       */
      to: string
      /**
       * Format: double
       * @description Total distance in km
       */
      distance_km: number
      /**
       * Format: double
       * @description Maximum speed in km/h
       */
      top_speed: number
      /** @description Total time moving, as the platform writes it, such as `1h 12min 5s`; `0s` if unknown */
      move_duration: string
      /** @description Total time stopped, as the platform writes it, such as `1h 12min 5s`; `0s` if unknown */
      stop_duration: string
      /**
       * Format: int64
       * @description Total time moving in seconds; null if unknown
       */
      move_seconds: number | null
      /**
       * Format: int64
       * @description Total time stopped in seconds; null if unknown
       */
      stop_seconds: number | null
      /**
       * Format: double
       * @description Fuel used in litres; null unless the platform sends it in litres
       */
      fuel_l: number | null
      /** @description Drives, oldest first */
      trips: components['schemas']['Trip'][]
      /** @description Stops, oldest first */
      stops: components['schemas']['Stop'][]
      /** @description Events of the device, oldest first */
      events: components['schemas']['HistoryEvent'][]
      /** @description Positions, oldest first; consecutive ones of the same second, place and speed are one. Empty with `positions=false`. */
      positions: components['schemas']['Position'][]
    }
    HistoryEvent: {
      /** @description When it happened, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      time: string
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84); null without a position
       */
      lat: number | null
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84); null without a position
       */
      lng: number | null
      /** @description Human-readable text */
      message: string
    }
    /** @description An active API key, with its value truncated */
    Key: {
      /**
       * @description Always `api_key`
       * @constant
       */
      object: 'api_key'
      /**
       * Format: uuid
       * @description Identifier of the key; not a secret
       */
      id: string
      /** @description The key, truncated to its prefix and the first and last four characters after it */
      key: string
      /** @description Descriptive name; empty without one */
      label: string
      /**
       * Format: int64
       * @description When it was created, in epoch milliseconds
       */
      created_at: number
      /**
       * Format: int64
       * @description When it expires, in epoch milliseconds
       */
      expires_at: number
      /**
       * Format: int64
       * @description When it was last used, in epoch milliseconds, exact to one minute; null if never
       */
      last_used_at: number | null
      /**
       * @description Only active keys are listed
       * @enum {string}
       */
      status: 'active'
      /** @description Whether the key holds the platform hash of this request. If false, renew it, or replace it if another user of the platform created it; null if it was created by an earlier release and not used since */
      usable: boolean | null
    }
    /** @description The items, with the applied paging */
    KeyList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['Key'][]
    }
    LineString: {
      /** @constant */
      type: 'LineString'
      coordinates: number[][]
    }
    /** @description The last recorded position of a device */
    Location: {
      /**
       * @description Always `location`
       * @constant
       */
      object: 'location'
      /**
       * Format: int64
       * @description The device
       */
      device_id: number
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84)
       */
      lat: number
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84)
       */
      lng: number
      /**
       * Format: double
       * @description Speed in km/h
       */
      speed: number
      /**
       * Format: double
       * @description Degrees; 0 is north, 90 is east. 0 too if the platform sends none
       */
      course: number
      /**
       * Format: double
       * @description Metres above sea level; 0 if the platform sends none
       */
      altitude: number
      /**
       * @description `moving` is connected and driving, `online` is connected, `offline` is not connected or never seen
       * @enum {string}
       */
      status: 'online' | 'offline' | 'moving'
      /** @description Approximate address; null if the platform has none */
      address: string | null
      /**
       * Format: int64
       * @description Unix seconds of the last fix; without one, of the last sign of life; 0 if unknown. `last_seen` may be later
       */
      timestamp: number
      /** @description When data was last received, as the platform shows it (the last fix or a later sign of life; null if never or unknown), as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      last_seen: string | null
    }
    /** @description A maintenance service, due by distance, engine hours or days */
    MaintenanceService: {
      /**
       * Format: int64
       * @description Unique service identifier
       */
      id: number
      /** @description Name given to the service */
      name: string
      /**
       * Format: int64
       * @description The device of the service; null if unknown
       */
      device_id: number | null
      /** @description Name of that device; empty if unknown */
      device: string
      /** @description Unit of the numbers: `odometer` (km), `engine_hours` (hours) or `days` (days since 1970-01-01), or another word of the platform */
      expiration_by: string
      /**
       * Format: double
       * @description Maintenance interval in that unit; null if unknown
       */
      interval: number | null
      /**
       * Format: double
       * @description Value at the last service in that unit; null if unknown
       */
      last_service: number | null
      /**
       * Format: double
       * @description Value at which the next service is due, in that unit; null if unknown
       */
      expires_at: number | null
      /**
       * Format: double
       * @description Amount left until then in that unit; negative when overdue; null if unknown
       */
      remaining: number | null
      /** @description Whether the service is overdue */
      expired: boolean
      /** @description For `days`: day of the last service, `YYYY-MM-DD`; null if unknown, and for other units */
      last_service_date: string | null
      /** @description For `days`: day on which the next service is due, `YYYY-MM-DD`; null if unknown, and for other units */
      expires_date: string | null
    }
    /** @description The items, with the applied paging */
    MaintenanceServiceList: {
      /**
       * @description Always `list`
       * @constant
       */
      object: 'list'
      /**
       * Format: int64
       * @description Number of items that match the filters, before paging
       */
      count: number
      /**
       * Format: int64
       * @description The applied limit: the requested one, lowered to the maximum, or the default. A list that returns all items by default shows their number here: 0 for an empty list.
       */
      limit: number
      /**
       * Format: int64
       * @description Number of skipped items
       */
      offset: number
      /** @description Whether more items follow */
      has_more: boolean
      /** @description The items */
      data: components['schemas']['MaintenanceService'][]
    }
    /** @description The account that the credential belongs to */
    Me: {
      /**
       * @description Always `account`
       * @constant
       */
      object: 'account'
      /**
       * @description The kind of credential in the request
       * @enum {string}
       */
      credential: 'platform_hash' | 'api_key' | 'demo'
      /** @description E-mail of the account; null if the platform sends none */
      email: string | null
      /** @description How far the account's clock is ahead of UTC at the moment; null if unknown */
      utc_offset: string | null
      /** @description The API key in the request; null for other credentials */
      key: components['schemas']['OwnKey'] | null
    }
    OwnKey: {
      /**
       * Format: uuid
       * @description Identifier of the key
       */
      id: string
      /** @description Descriptive name; empty if none */
      label: string
      /**
       * Format: int64
       * @description When it expires, in epoch milliseconds
       */
      expires_at: number
    }
    /** @description Planned, not available yet: the body of a webhook */
    PlannedMessage: {
      /**
       * @description Kind of the event
       * @enum {string}
       */
      event:
        | 'geofence.enter'
        | 'geofence.exit'
        | 'speed.exceeded'
        | 'ignition.on'
        | 'ignition.off'
        | 'device.offline'
        | 'alarm.triggered'
      /**
       * Format: date-time
       * @description Time of the event, ISO 8601 in UTC
       */
      timestamp: string
      /** @description The device of the event */
      device: {
        /** Format: int64 */
        id: number
        name: string
      }
      /** @description The geofence, if the event concerns one */
      geofence?: {
        /** Format: int64 */
        id: number
        name: string
      }
      /** @description Position of the event; speed in km/h */
      location?: {
        /** Format: double */
        lat: number
        /** Format: double */
        lng: number
        /** Format: double */
        speed: number
      }
    }
    Point: {
      /** @constant */
      type: 'Point'
      /** @description `[longitude, latitude]` */
      coordinates: number[]
    }
    Polygon: {
      /** @constant */
      type: 'Polygon'
      /** @description One closed counter-clockwise ring (RFC 7946) */
      coordinates: number[][][]
    }
    Position: {
      /** @description Time of the position, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      time: string
      /**
       * Format: int64
       * @description The same in Unix seconds; null if the account's UTC offset is unknown
       */
      timestamp: number | null
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84)
       */
      lat: number
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84)
       */
      lng: number
      /**
       * Format: double
       * @description Speed in km/h
       */
      speed: number
      /**
       * Format: double
       * @description Heading in degrees, 0 = north, 90 = east; null if unknown
       */
      course: number | null
      /**
       * Format: double
       * @description Metres above sea level; null if unknown
       */
      altitude: number | null
      /** @description Approximate address; null if the platform has none */
      address: string | null
    }
    /** @description A revoked API key */
    RevokedKey: {
      /**
       * @description Always `api_key`
       * @constant
       */
      object: 'api_key'
      /**
       * Format: uuid
       * @description Identifier of the key; not a secret
       */
      id: string
      /**
       * @description Always true
       * @constant
       */
      deleted: true
      /**
       * Format: int64
       * @description When it was revoked, in epoch milliseconds
       */
      revoked_at: number
      /** @description Human-readable text */
      message: string
    }
    Sensor: {
      /**
       * Format: int64
       * @description Unique sensor identifier; null if the platform sends none
       */
      id: number | null
      /** @description The platform's word in lower case; `other` if it sends none */
      type: string
      /** @description Name given to the sensor */
      name: string
      /** @description Value with its unit; null if the sensor has none */
      value: string | null
      /**
       * Format: double
       * @description The value as a number in the unit shown; null if it is not a number
       */
      number: number | null
    }
    Stop: {
      /** @description Start, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      from: string
      /** @description End, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      to: string
      /**
       * Format: int64
       * @description Duration in seconds; null if unknown
       */
      duration_seconds: number | null
      /**
       * Format: double
       * @description Latitude in decimal degrees (WGS84); null without a position
       */
      lat: number | null
      /**
       * Format: double
       * @description Longitude in decimal degrees (WGS84); null without a position
       */
      lng: number | null
      /** @description Approximate address; null if the platform has none */
      address: string | null
    }
    Track: {
      /** @constant */
      type: 'Feature'
      /** Format: int64 */
      id: number
      geometry: components['schemas']['LineString'] | components['schemas']['Point'] | null
      properties: {
        /**
         * @description Always `history`
         * @constant
         */
        object: 'history'
        /**
         * Format: int64
         * @description The requested device
         */
        device_id: number
        /**
         * @description First day, `YYYY-MM-DD` on the account's clock
         * @example 2026-05-11
         */
        from: string
        /**
         * @description Last day, `YYYY-MM-DD` on the account's clock
         * @example 2026-05-12
         */
        to: string
        /**
         * Format: double
         * @description Total distance in km
         */
        distance_km: number
        /**
         * Format: double
         * @description Maximum speed in km/h
         */
        top_speed: number
        /** @description Total time moving, as the platform writes it, such as `1h 12min 5s`; `0s` if unknown */
        move_duration: string
        /** @description Total time stopped, as the platform writes it, such as `1h 12min 5s`; `0s` if unknown */
        stop_duration: string
        /**
         * Format: int64
         * @description Total time moving in seconds; null if unknown
         */
        move_seconds: number | null
        /**
         * Format: int64
         * @description Total time stopped in seconds; null if unknown
         */
        stop_seconds: number | null
        /**
         * Format: double
         * @description Fuel used in litres; null unless the platform sends it in litres
         */
        fuel_l: number | null
        /** @description Drives, oldest first */
        trips: components['schemas']['Trip'][]
        /** @description Stops, oldest first */
        stops: components['schemas']['Stop'][]
        /** @description Events of the device, oldest first */
        events: components['schemas']['HistoryEvent'][]
        /** @description One for each coordinate, at the same index */
        times: string[]
      }
    }
    Trip: {
      /** @description Start, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      from: string
      /** @description End, as `YYYY-MM-DD HH:MM:SS` on the account's clock */
      to: string
      /**
       * Format: double
       * @description Distance in km
       */
      distance_km: number
      /**
       * Format: int64
       * @description Duration in seconds; null if unknown
       */
      duration_seconds: number | null
      /**
       * Format: double
       * @description Maximum speed in km/h
       */
      top_speed: number
      /**
       * Format: double
       * @description Average speed in km/h; null if unknown
       */
      average_speed: number | null
      /** @description Name of the driver; null if unknown */
      driver: string | null
      /** @description First position */
      start: {
        /**
         * Format: double
         * @description Latitude in decimal degrees (WGS84); null without a position
         */
        lat: number | null
        /**
         * Format: double
         * @description Longitude in decimal degrees (WGS84); null without a position
         */
        lng: number | null
      }
      /** @description Last position */
      end: {
        /**
         * Format: double
         * @description Latitude in decimal degrees (WGS84); null without a position
         */
        lat: number | null
        /**
         * Format: double
         * @description Longitude in decimal degrees (WGS84); null without a position
         */
        lng: number | null
      }
    }
  }
  responses: {
    /** @description `forbidden`: The account has no permission for this on the tracking platform. */
    Forbidden: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `gateway_error`: The tracking platform cannot be reached at the moment. Try again shortly. */
    GatewayError: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        'Retry-After': components['headers']['Retry-After']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `headers_too_large`: The request headers are too large. */
    HeadersTooLarge: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `internal_error`: Something went wrong inside the gateway. */
    InternalError: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `invalid_request`: The request is invalid. */
    InvalidRequest: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `invalid_token`: The credential is wrong, revoked or expired, or its account is deactivated. */
    InvalidToken: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        'WWW-Authenticate': components['headers']['WWW-Authenticate']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `not_found`: There is no such resource. */
    NotFound: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `not_found`: There is no such resource. `no_location`: The device has no recorded position. */
    NotFoundOrNoLocation: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description The body is still the one whose `ETag` the request sent in `If-None-Match`; of devices, `stopped_seconds` and `idle_seconds` may have counted on. */
    NotModified: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        ETag: components['headers']['ETag']
        Vary: components['headers']['Vary']
        'Cache-Control': components['headers']['Cache-Control']
        Age: components['headers']['Age']
        'Cache-Status': components['headers']['Cache-Status']
        [name: string]: unknown
      }
      content?: never
    }
    /** @description `payload_too_large`: The request body is larger than 16 KiB. */
    PayloadTooLarge: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `rate_limit_exceeded`: Too many requests. Wait the number of seconds in Retry-After, then send fewer requests. */
    RateLimitExceeded: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        'Retry-After': components['headers']['Retry-After']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `too_many_keys`: The account has the maximum number of active API keys. Revoke one first. */
    TooManyKeys: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `unauthorized`: Send a credential in the header "Authorization: Bearer <credential>". `invalid_token`: The credential is wrong, revoked or expired, or its account is deactivated. */
    UnauthorizedOrInvalidToken: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        'WWW-Authenticate': components['headers']['WWW-Authenticate']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `unsupported_media_type`: Send the body as application/json. */
    UnsupportedMediaType: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
    /** @description `uri_too_long`: The request URL is too long. */
    UriTooLong: {
      headers: {
        'RateLimit-Limit': components['headers']['RateLimit-Limit']
        'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
        'RateLimit-Reset': components['headers']['RateLimit-Reset']
        'X-Request-Id': components['headers']['X-Request-Id']
        'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
        'Cache-Control': components['headers']['Cache-Control']
        'Preference-Applied': components['headers']['Preference-Applied']
        [name: string]: unknown
      }
      content: {
        'application/json': components['schemas']['Error']
      }
    }
  }
  parameters: never
  requestBodies: never
  headers: {
    /**
     * @description Requests per window
     * @example 100
     */
    'RateLimit-Limit': number
    /**
     * @description Requests left in this window
     * @example 87
     */
    'RateLimit-Remaining': number
    /**
     * @description Seconds until the window ends
     * @example 42
     */
    'RateLimit-Reset': number
    /**
     * @description Identifies this request in our log; a valid id from the request is kept
     * @example req-7f3a
     */
    'X-Request-Id': string
    /**
     * @description Expiry of the API key in the request; only in its last 30 days
     * @example Tue, 12 May 2026 09:30:00 GMT
     */
    'X-Api-Key-Expires': string
    /**
     * @description Tag of the body, for `If-None-Match`
     * @example W/"4vEJqUoXIPSFZ1gGVrdnNA"
     */
    ETag: string
    /**
     * @description How long the response may be reused
     * @example private, max-age=5
     */
    'Cache-Control': string
    /**
     * @description The request headers that the response depends on
     * @example Authorization, Accept-Encoding
     */
    Vary: string
    /**
     * @description Seconds since the data was requested from the platform; only with devices
     * @example 3
     */
    Age: number
    /**
     * @description Only on a response that the request allowed with `stale-if-error`: it is older than `max-age` (RFC 9211)
     * @example gps-fleet-gateway; hit; ttl=-85
     */
    'Cache-Status': string
    /**
     * @description Seconds to wait before the next attempt
     * @example 42
     */
    'Retry-After': number
    /**
     * @description The part of `Prefer` that requested this error
     * @example error=not_found
     */
    'Preference-Applied': string
    /**
     * @description The required scheme (RFC 6750)
     * @example Bearer
     */
    'WWW-Authenticate': string
  }
  pathItems: never
}
export type $defs = Record<string, never>
export interface operations {
  getHealth: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description State of the service according to recent calls */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "status": "ok",
           *       "version": "1.0.0",
           *       "uptime_s": 86400,
           *       "components": {
           *         "platform": "up",
           *         "store": "up"
           *       }
           *     }
           */
          'application/json': components['schemas']['Health']
        }
      }
      400: components['responses']['InvalidRequest']
      414: components['responses']['UriTooLong']
      431: components['responses']['HeadersTooLarge']
    }
  }
  listDevices: {
    parameters: {
      query?: {
        /** @description `moving` is connected and driving, `online` is connected, `offline` is not connected or never seen */
        status?: 'online' | 'offline' | 'moving'
        /** @description Only these devices, for which `limit` defaults to 500: at most 500 ids, separated by commas */
        ids?: number[]
        /**
         * @description Only devices with a fix or a sign of life at or after this time, in Unix seconds. A device that goes offline because it is silent is not among them. To poll, send the `Date` of the previous response, of its first page if it had several, minus its `Age` and some seconds for delays on the way; some devices are then sent twice
         * @example 1778500800
         */
        updated_since?: number
        /** @description `geojson` for GeoJSON (RFC 7946) as `application/geo+json`, schema `DeviceCollection` of the OpenAPI document: the same fields as `properties` of features */
        format?: 'json' | 'geojson'
        /** @description Maximum number of items; 50, or 500 with `ids`, if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Age: components['headers']['Age']
          'Cache-Status': components['headers']['Cache-Status']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 50,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "id": 318,
           *           "name": "Van 4",
           *           "imei": "990000862471854",
           *           "plate_number": "W 4711 F",
           *           "vin": "WDB9066571S123456",
           *           "sim_number": "+4366055501420",
           *           "status": "moving",
           *           "protocol": "teltonika",
           *           "lat": 48.208174,
           *           "lng": 16.373819,
           *           "speed": 43,
           *           "course": 271,
           *           "altitude": 171,
           *           "last_seen": "2026-05-11 14:03:27",
           *           "timestamp": 1778501007,
           *           "ignition": true,
           *           "odometer_km": 81450.2,
           *           "engine_hours": 2410.5,
           *           "moved_at": 1778501007,
           *           "stopped_seconds": 0,
           *           "idle_seconds": 0,
           *           "driver": "Jo Brandt",
           *           "driver_id": 12,
           *           "address": null,
           *           "sensors": [
           *             {
           *               "id": 71,
           *               "type": "battery",
           *               "name": "Battery",
           *               "value": "12.6 V",
           *               "number": 12.6
           *             }
           *           ],
           *           "group": "Vans"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['DeviceList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  getDevice: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Device id
         * @example 1001
         */
        id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description A vehicle with its last known state */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Age: components['headers']['Age']
          'Cache-Status': components['headers']['Cache-Status']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": 318,
           *       "name": "Van 4",
           *       "imei": "990000862471854",
           *       "plate_number": "W 4711 F",
           *       "vin": "WDB9066571S123456",
           *       "sim_number": "+4366055501420",
           *       "status": "moving",
           *       "protocol": "teltonika",
           *       "lat": 48.208174,
           *       "lng": 16.373819,
           *       "speed": 43,
           *       "course": 271,
           *       "altitude": 171,
           *       "last_seen": "2026-05-11 14:03:27",
           *       "timestamp": 1778501007,
           *       "ignition": true,
           *       "odometer_km": 81450.2,
           *       "engine_hours": 2410.5,
           *       "moved_at": 1778501007,
           *       "stopped_seconds": 0,
           *       "idle_seconds": 0,
           *       "driver": "Jo Brandt",
           *       "driver_id": 12,
           *       "address": null,
           *       "sensors": [
           *         {
           *           "id": 71,
           *           "type": "battery",
           *           "name": "Battery",
           *           "value": "12.6 V",
           *           "number": 12.6
           *         }
           *       ],
           *       "group": "Vans"
           *     }
           */
          'application/json': components['schemas']['Device']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      404: components['responses']['NotFound']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  getDeviceLocation: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Device id
         * @example 1001
         */
        id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The last recorded position of a device */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          Age: components['headers']['Age']
          'Cache-Status': components['headers']['Cache-Status']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "location",
           *       "device_id": 318,
           *       "lat": 48.208174,
           *       "lng": 16.373819,
           *       "speed": 43,
           *       "course": 271,
           *       "altitude": 171,
           *       "status": "moving",
           *       "address": null,
           *       "timestamp": 1778501007,
           *       "last_seen": "2026-05-11 14:03:27"
           *     }
           */
          'application/json': components['schemas']['Location']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      404: components['responses']['NotFoundOrNoLocation']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listGeofences: {
    parameters: {
      query?: {
        /** @description `geojson` for GeoJSON (RFC 7946) as `application/geo+json`, schema `GeofenceCollection` of the OpenAPI document: the same fields as `properties` of features */
        format?: 'json' | 'geojson'
        /** @description Maximum number of items; all if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 1,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "id": 27,
           *           "name": "Harbour",
           *           "type": "polygon",
           *           "active": true,
           *           "color": "#1F7A4D",
           *           "created_at": "2026-02-03 10:20:30"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['GeofenceList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  getGeofence: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Geofence id
         * @example 101
         */
        id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description A geofence with its geometry */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "id": 27,
           *       "name": "Harbour",
           *       "type": "polygon",
           *       "active": true,
           *       "color": "#1F7A4D",
           *       "created_at": "2026-02-03 10:20:30",
           *       "geometry": {
           *         "type": "Polygon",
           *         "coordinates": [
           *           [
           *             [
           *               16.41,
           *               48.22
           *             ],
           *             [
           *               16.43,
           *               48.22
           *             ],
           *             [
           *               16.42,
           *               48.24
           *             ],
           *             [
           *               16.41,
           *               48.22
           *             ]
           *           ]
           *         ]
           *       },
           *       "radius": null
           *     }
           */
          'application/json': components['schemas']['GeofenceDetail']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      404: components['responses']['NotFound']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listEvents: {
    parameters: {
      query?: {
        /** @description Only events of this device. Not together with `device_ids` */
        device_id?: number
        /** @description Only events of these devices: at most 10 ids, separated by commas */
        device_ids?: number[]
        /** @description Only events with a greater id, in ascending order of id: send the last one next. Begin with the id of the newest event. */
        after_id?: number
        /** @description Only events of this type: the platform's word, a `kind`, or another word from the table of kinds */
        type?: string
        /**
         * @description Earliest time, inclusive, in ISO 8601. Without a UTC offset it is on the account's clock; a date alone means its first second.
         * @example 2026-05-11T00:00:00Z
         */
        from?: string
        /**
         * @description Latest time, inclusive, in ISO 8601. Without a UTC offset it is on the account's clock; a date alone means its last second.
         * @example 2026-05-11
         */
        to?: string
        /** @description Maximum number of items. A value above 200 is lowered to 200. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 50,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "id": 5021,
           *           "type": "zone_in",
           *           "kind": "geofence.enter",
           *           "message": "Zone in (Harbour)",
           *           "device_id": 318,
           *           "device": "Van 4",
           *           "lat": 48.22917,
           *           "lng": 16.41862,
           *           "speed": 12,
           *           "address": null,
           *           "alert_id": 14,
           *           "geofence": {
           *             "id": 27,
           *             "name": "Harbour"
           *           },
           *           "timestamp": "2026-05-11 13:47:02"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['EventList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  getHistory: {
    parameters: {
      query: {
        /**
         * @description First day, `YYYY-MM-DD` on the account's clock
         * @example 2026-05-11
         */
        from: string
        /**
         * @description Last day, not before `from`, `YYYY-MM-DD` on the account's clock
         * @example 2026-05-12
         */
        to: string
        /** @description `false` leaves the positions out and keeps totals, trips, stops and events */
        positions?: 'true' | 'false'
        /** @description `geojson` for GeoJSON (RFC 7946) as `application/geo+json`, schema `Track` of the OpenAPI document: the same fields as `properties` of features */
        format?: 'json' | 'geojson'
      }
      header?: never
      path: {
        /**
         * @description Device id
         * @example 1001
         */
        device_id: number
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description Positions, trips, stops, events and totals of a device over whole days */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "history",
           *       "device_id": 318,
           *       "from": "2026-05-11",
           *       "to": "2026-05-12",
           *       "distance_km": 64.3,
           *       "top_speed": 92,
           *       "move_duration": "1h 12min 5s",
           *       "stop_duration": "22h 47min 54s",
           *       "move_seconds": 4325,
           *       "stop_seconds": 82074,
           *       "fuel_l": null,
           *       "trips": [
           *         {
           *           "from": "2026-05-11 06:58:12",
           *           "to": "2026-05-11 07:24:40",
           *           "distance_km": 18.2,
           *           "duration_seconds": 1588,
           *           "top_speed": 74,
           *           "average_speed": 41,
           *           "driver": null,
           *           "start": {
           *             "lat": 48.2081,
           *             "lng": 16.3738
           *           },
           *           "end": {
           *             "lat": 48.2292,
           *             "lng": 16.4186
           *           }
           *         }
           *       ],
           *       "stops": [
           *         {
           *           "from": "2026-05-11 07:24:40",
           *           "to": "2026-05-11 07:54:40",
           *           "duration_seconds": 1800,
           *           "lat": 48.2292,
           *           "lng": 16.4186,
           *           "address": null
           *         }
           *       ],
           *       "events": [
           *         {
           *           "time": "2026-05-11 07:24:40",
           *           "lat": 48.2292,
           *           "lng": 16.4186,
           *           "message": "Zone in (Harbour)"
           *         }
           *       ],
           *       "positions": [
           *         {
           *           "time": "2026-05-11 06:58:12",
           *           "timestamp": 1778475492,
           *           "lat": 48.2081,
           *           "lng": 16.3738,
           *           "speed": 31,
           *           "course": 88,
           *           "altitude": 171,
           *           "address": null
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['History']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      404: components['responses']['NotFound']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listAlerts: {
    parameters: {
      query?: {
        /** @description Maximum number of items; all if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 1,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "object": "alert",
           *           "id": 61,
           *           "name": "Harbour watch",
           *           "type": "geofence_in",
           *           "types": [
           *             "geofence_in",
           *             "geofence_out"
           *           ],
           *           "active": true,
           *           "all_devices": false,
           *           "devices": [
           *             {
           *               "id": 318,
           *               "name": "Van 4"
           *             }
           *           ]
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['AlertList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listServices: {
    parameters: {
      query?: {
        /** @description Only services of this device */
        device_id?: number
        /** @description Maximum number of items; all if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 1,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "id": 7,
           *           "name": "Tyres",
           *           "device_id": 318,
           *           "device": "Van 4",
           *           "expiration_by": "odometer",
           *           "interval": 30000,
           *           "last_service": 52000,
           *           "expires_at": 82000,
           *           "remaining": 1450.5,
           *           "expired": false,
           *           "last_service_date": null,
           *           "expires_date": null
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['MaintenanceServiceList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listDrivers: {
    parameters: {
      query?: {
        /** @description Maximum number of items; all if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 1,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "id": 12,
           *           "name": "Jo Brandt",
           *           "phone": "+43 1 5550142",
           *           "rfid": "7C21E9",
           *           "assigned_device_id": 318,
           *           "assigned_device": "Van 4"
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['DriverList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      403: components['responses']['Forbidden']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  getMe: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The account that the credential belongs to */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "account",
           *       "credential": "api_key",
           *       "email": "owner@example.com",
           *       "utc_offset": "+02:00",
           *       "key": {
           *         "id": "0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3",
           *         "label": "Dispatch board",
           *         "expires_at": 1786277007000
           *       }
           *     }
           */
          'application/json': components['schemas']['Me']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  listKeys: {
    parameters: {
      query?: {
        /** @description Maximum number of items; all if omitted. A value above 500 is lowered to 500. */
        limit?: number
        /** @description Number of items to skip */
        offset?: number
      }
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description The items, with the applied paging */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          ETag: components['headers']['ETag']
          Vary: components['headers']['Vary']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "list",
           *       "count": 1,
           *       "limit": 1,
           *       "offset": 0,
           *       "has_more": false,
           *       "data": [
           *         {
           *           "object": "api_key",
           *           "id": "0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3",
           *           "key": "gps_live_5d0b…1b92",
           *           "label": "Dispatch board",
           *           "created_at": 1778501007000,
           *           "expires_at": 1786277007000,
           *           "last_used_at": null,
           *           "status": "active",
           *           "usable": true
           *         }
           *       ]
           *     }
           */
          'application/json': components['schemas']['KeyList']
        }
      }
      304: components['responses']['NotModified']
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  createKey: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody: {
      content: {
        /**
         * @example {
         *       "platform_hash": "<PLATFORM_HASH>",
         *       "label": "Dispatch board",
         *       "expires_in_days": 90
         *     }
         */
        'application/json': components['schemas']['CreateKey']
      }
    }
    responses: {
      /** @description A new API key, with its complete value */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "api_key",
           *       "id": "0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3",
           *       "key": "gps_live_5d0b6c3e91f2a87450cb3de6f1a29784b05c6d3e8f7a1b92",
           *       "label": "Dispatch board",
           *       "created_at": 1778501007000,
           *       "expires_at": 1786277007000,
           *       "platform_email": "owner@example.com",
           *       "message": "Store this key now: it is not shown again. A lost key can only be revoked and replaced."
           *     }
           */
          'application/json': components['schemas']['CreatedKey']
        }
      }
      400: components['responses']['InvalidRequest']
      401: components['responses']['InvalidToken']
      403: components['responses']['Forbidden']
      404: components['responses']['NotFound']
      409: components['responses']['TooManyKeys']
      413: components['responses']['PayloadTooLarge']
      414: components['responses']['UriTooLong']
      415: components['responses']['UnsupportedMediaType']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  revokeKey: {
    parameters: {
      query?: never
      header?: never
      path: {
        /**
         * @description Id of the key
         * @example 0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3
         */
        id: string
      }
      cookie?: never
    }
    requestBody?: never
    responses: {
      /** @description A revoked API key */
      200: {
        headers: {
          'RateLimit-Limit': components['headers']['RateLimit-Limit']
          'RateLimit-Remaining': components['headers']['RateLimit-Remaining']
          'RateLimit-Reset': components['headers']['RateLimit-Reset']
          'X-Request-Id': components['headers']['X-Request-Id']
          'X-Api-Key-Expires': components['headers']['X-Api-Key-Expires']
          'Cache-Control': components['headers']['Cache-Control']
          [name: string]: unknown
        }
        content: {
          /**
           * @example {
           *       "object": "api_key",
           *       "id": "0b9d3c52-6f1e-4a7d-9c84-2e5a71f0d6b3",
           *       "deleted": true,
           *       "revoked_at": 1778587407000,
           *       "message": "The key is revoked. Requests with it are rejected from now on."
           *     }
           */
          'application/json': components['schemas']['RevokedKey']
        }
      }
      400: components['responses']['InvalidRequest']
      401: components['responses']['UnauthorizedOrInvalidToken']
      404: components['responses']['NotFound']
      414: components['responses']['UriTooLong']
      429: components['responses']['RateLimitExceeded']
      431: components['responses']['HeadersTooLarge']
      500: components['responses']['InternalError']
      503: components['responses']['GatewayError']
    }
  }
  plannedFleetEvent: {
    parameters: {
      query?: never
      header?: never
      path?: never
      cookie?: never
    }
    requestBody?: {
      content: {
        /**
         * @example {
         *       "event": "geofence.enter",
         *       "timestamp": "2026-05-11T12:03:27Z",
         *       "device": {
         *         "id": 318,
         *         "name": "Van 4"
         *       },
         *       "geofence": {
         *         "id": 27,
         *         "name": "Harbour"
         *       },
         *       "location": {
         *         "lat": 48.229171,
         *         "lng": 16.418624,
         *         "speed": 12
         *       }
         *     }
         */
        'application/json': components['schemas']['PlannedMessage']
      }
    }
    responses: {
      /** @description Your response: the message is accepted */
      200: {
        headers: {
          [name: string]: unknown
        }
        content?: never
      }
    }
  }
}
