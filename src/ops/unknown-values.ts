/** The platform's words we know, so that a new one is seen before a caller asks about it. Knows no resource and changes nothing. */

const alertTypes = [
  ...['overspeed', 'stop_duration', 'offline_duration', 'move_duration', 'ignition_duration', 'idle_duration'],
  ...['ignition', 'move_start', 'driver', 'driver_unauthorized', 'geofence_in', 'geofence_out', 'geofence_inout'],
  ...['custom', 'sos', 'fuel_change', 'distance', 'poi_stop_duration', 'poi_idle_duration', 'task_status'],
  ...['device_expiration', 'unplugged', 'time_duration'],
]
const eventTypes = [
  ...alertTypes,
  ...['zone_in', 'zone_out', 'ignition_on', 'ignition_off', 'fuel_fill', 'fuel_theft', 'underspeed'],
  ...['expired_device', 'expiring_device', 'expired_sim', 'expiring_sim'],
]

/** Per action the field whose words we act on or pass on, and those we know (platform.md 3.3, 4, 5, 7.2, 8). */
const known: Readonly<Record<string, { field: string; words: ReadonlySet<string> }>> = {
  get_devices: { field: 'online', words: new Set(['online', 'ack', 'engine', 'offline', 'moving']) },
  get_events: { field: 'type', words: new Set(eventTypes) },
  get_alerts: { field: 'type', words: new Set(alertTypes) },
  get_geofences: { field: 'type', words: new Set(['polygon', 'circle']) },
  services: { field: 'expiration_by', words: new Set(['odometer', 'engine_hours', 'days']) },
}

/** Words remembered as told; past this a platform invents them, and counting is enough. */
const mostTold = 50

export interface WordsNeeds {
  onUnknown: (action: string, field: string) => void
  /** Told once per word. It is the platform's text: cut short, and never a metric label. */
  onNew: (found: { action: string; field: string; word: string }) => void
}

export class Words {
  readonly #needs: WordsNeeds
  readonly #told = new Set<string>()

  constructor(needs: WordsNeeds) {
    this.#needs = needs
  }

  /** Looks through the rows of one answer. */
  readonly see = (action: string, rows: readonly object[]): void => {
    const entry = known[action]
    if (!entry) return
    const { field, words } = entry
    for (const row of rows) {
      const sent: unknown = Reflect.get(row, field)
      if (typeof sent !== 'string') continue
      const word = sent.trim().toLowerCase()
      if (word !== '' && !words.has(word)) this.#tell(action, field, word.slice(0, 40))
    }
  }

  #tell(action: string, field: string, word: string): void {
    this.#needs.onUnknown(action, field)
    const name = `${action} ${word}`
    if (this.#told.size >= mostTold || this.#told.has(name)) return
    this.#told.add(name)
    this.#needs.onNew({ action, field, word })
  }
}
