/** The kinds of events: the platform's words for each, and the words that the filter `type` accepts for it. */

interface KindRow {
  kind: string
  /** What has happened. */
  meaning: string
  /** The platform's words for it; one that ends with `*` is the beginning of several. */
  words: readonly string[]
  /** Other words for it in the filter `type`: those of the first documentation, and the types of alerts. */
  aliases?: readonly string[]
}

export const eventKinds = [
  { kind: 'geofence.enter', meaning: 'Entered a geofence', words: ['zone_in'], aliases: ['geofence_in'] },
  { kind: 'geofence.exit', meaning: 'Left a geofence', words: ['zone_out'], aliases: ['geofence_out'] },
  {
    kind: 'speed.exceeded',
    meaning: 'Drove faster than the limit of an alert',
    words: ['overspeed'],
    aliases: ['speeding', 'speed_exceeded'],
  },
  { kind: 'ignition.on', meaning: 'Ignition switched on', words: ['ignition_on'] },
  { kind: 'ignition.off', meaning: 'Ignition switched off', words: ['ignition_off'] },
  {
    kind: 'device.offline',
    meaning: 'Sent nothing for the time of an alert',
    words: ['offline_duration'],
    aliases: ['device_offline'],
  },
  {
    kind: 'harsh.brake',
    meaning: 'Braked harshly: a `custom` event whose message says so',
    words: [],
    aliases: ['harsh_brake'],
  },
  {
    kind: 'harsh.acceleration',
    meaning: 'Accelerated harshly: a `custom` event whose message says so',
    words: [],
    aliases: ['harsh_accel'],
  },
  {
    kind: 'alarm.triggered',
    meaning: 'Panic button, or another event that the account has defined',
    words: ['sos', 'custom'],
  },
  {
    kind: 'maintenance.due',
    meaning: 'A maintenance service is due or overdue',
    words: ['service*'],
    aliases: ['maintenance_due'],
  },
  { kind: 'stop', meaning: 'Stopped for the time of an alert', words: ['stop_duration'] },
  { kind: 'idle', meaning: 'Stood with the engine running for the time of an alert', words: ['idle_duration'] },
  { kind: 'move.start', meaning: 'Started to move', words: ['move_start'] },
  { kind: 'driver.changed', meaning: 'Another driver, or one without authorization', words: ['driver*'] },
  { kind: 'fuel.filled', meaning: 'Fuel filled in', words: ['fuel_fill'] },
  { kind: 'fuel.stolen', meaning: 'Fuel drained', words: ['fuel_theft'] },
  { kind: 'power.cut', meaning: 'Tracker unplugged from its power supply', words: ['unplugged'] },
  { kind: 'other', meaning: 'Any other word of the platform', words: ['*'] },
] as const satisfies readonly KindRow[]

export type EventKind = (typeof eventKinds)[number]['kind']

const rows: readonly (KindRow & { kind: EventKind })[] = eventKinds

const covers = (pattern: string, word: string): boolean =>
  pattern.endsWith('*') ? word.startsWith(pattern.slice(0, -1)) : pattern === word

const harsh = /harsh|\bhard\b|sharp|sudden|rapid|abrupt|brusc/i
const braking = /brak|decel|desaceler|fren|frea/i
const acceleration = /accel|aceler/i

/** The kind of an event by the platform's word; harsh driving is in the message of a `custom` event only. */
export function kindOf(word: string, message: string): EventKind {
  if (word === 'custom' && harsh.test(message)) {
    if (braking.test(message)) return 'harsh.brake'
    if (acceleration.test(message)) return 'harsh.acceleration'
  }
  return rows.find(({ words }) => words.some((pattern) => covers(pattern, word)))?.kind ?? 'other'
}

/** What the filter `type` selects. */
export interface TypeFilter {
  /** The word to send to the platform; undefined where no single word covers the selection. */
  word: string | undefined
  /** Whether the platform's filter by `word` selects exactly this. */
  isExact: boolean
  matches: (event: { type: string; kind: EventKind }) => boolean
}

/** The filter for the platform's word, a kind or an alias, in any case. */
export function typeFilter(sent: string): TypeFilter {
  const type = sent.toLowerCase()
  const row = rows.find(({ kind, aliases }) => kind === type || aliases?.includes(type))
  if (!row) return { word: type, isExact: true, matches: (event) => event.type === type }
  const [word, ...others] = row.kind.startsWith('harsh.') ? ['custom'] : row.words
  const isOneWord = word !== undefined && others.length === 0 && !word.endsWith('*')
  return {
    word: isOneWord ? word : undefined,
    isExact: isOneWord && row.words.length === 1,
    matches: ({ kind }) => kind === row.kind,
  }
}
