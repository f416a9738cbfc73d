/** The kinds of events: the platform's words for each, and the words that the filter `type` accepts for it. */

/**
 * Each kind, what has happened, the platform's words for it, and other words for it in the filter `type`: those of the first
 * documentation, and the types of alerts. A word that ends with `*` is the beginning of several.
 */
const table = [
  ['geofence.enter', 'Entered a geofence', 'zone_in', 'geofence_in'],
  ['geofence.exit', 'Left a geofence', 'zone_out', 'geofence_out'],
  ['speed.exceeded', 'Drove faster than the limit set in an alert', 'overspeed', 'speeding speed_exceeded'],
  ['ignition.on', 'Ignition switched on', 'ignition_on', ''],
  ['ignition.off', 'Ignition switched off', 'ignition_off', ''],
  ['device.offline', 'Sent nothing for the time set in an alert', 'offline_duration', 'device_offline'],
  ['harsh.brake', 'Braked harshly: a `custom` event whose message says so', '', 'harsh_brake'],
  ['harsh.acceleration', 'Accelerated harshly: a `custom` event whose message says so', '', 'harsh_accel'],
  ['alarm.triggered', 'Panic button, or another event that the account has defined', 'sos custom', ''],
  ['maintenance.due', 'A maintenance service is due or overdue', 'service*', 'maintenance_due'],
  ['stop', 'Stopped for the time set in an alert', 'stop_duration', ''],
  ['idle', 'Stood with the engine running for the time set in an alert', 'idle_duration', ''],
  ['move.start', 'Started to move', 'move_start', ''],
  ['driver.changed', 'Another driver, or one without authorization', 'driver*', ''],
  ['fuel.filled', 'Refuelled', 'fuel_fill', ''],
  ['fuel.stolen', 'Fuel drained', 'fuel_theft', ''],
  ['power.cut', 'Tracker unplugged from its power supply', 'unplugged', ''],
  ['other', 'Any other word of the platform', '*', ''],
] as const

type EventKind = (typeof table)[number][0]

const wordsIn = (text: string): string[] => text.split(' ').filter((word) => word !== '')

export const eventKinds = table.map(([kind, meaning, words, aliases]) => ({
  kind,
  meaning,
  words: wordsIn(words),
  aliases: wordsIn(aliases),
}))

const covers = (pattern: string, word: string): boolean =>
  pattern.endsWith('*') ? word.startsWith(pattern.slice(0, -1)) : pattern === word

/** The word of all events that the account has defined itself. */
const custom = 'custom'
// A break-in is no braking.
const harsh = /harsh|\bhard\b|sharp|sudden|rapid|abrupt|brusc/i
const braking = /brak|break(?!.?in\b)|decel|desaceler|fren|frea/i
const acceleration = /accel|aceler/i

/** The kind of an event by the platform's word; harsh driving is in the message of a `custom` event only. */
export function kindOf(word: string, message: string): EventKind {
  if (word === custom && harsh.test(message)) {
    if (braking.test(message)) return 'harsh.brake'
    if (acceleration.test(message)) return 'harsh.acceleration'
  }
  return eventKinds.find(({ words }) => words.some((pattern) => covers(pattern, word)))?.kind ?? 'other'
}

/** What the filter `type` selects. */
export interface TypeFilter {
  /** The words to send to the platform, one in each request; none where no list of words covers the selection. */
  words: readonly string[]
  /** Whether the platform's filter by these words selects exactly this. */
  isExact: boolean
  matches: (event: { type: string; kind: EventKind }) => boolean
}

/** Types of alerts among the aliases: some platforms send the word of the alert as the type of the event. */
const alertTypes = ['geofence_in', 'geofence_out', 'device_offline']

const rowOf = (type: string) => eventKinds.find(({ kind, aliases }) => kind === type || aliases.includes(type))

/** Whether a word of the table is the beginning of several. */
const isBeginning = (word: string): boolean => /.\*$/.test(word)

/** Whether the platform's own list of types shows the words to send for this filter. */
export const needsList = (sent: string): boolean => rowOf(sent.toLowerCase())?.words.some(isBeginning) === true

/**
 * The filter for the platform's word, a kind or an alias, in any case.
 * @param listed the platform's own list of types, if `needsList`.
 */
export function typeFilter(sent: string, listed: readonly string[] = []): TypeFilter {
  const type = sent.toLowerCase()
  const row = rowOf(type)
  if (!row) return { words: [type], isExact: true, matches: (event) => event.type === type }
  const listedFor = (word: string): string[] => listed.filter((one) => covers(word, one.toLowerCase()))
  const known = row.words.flatMap((word) => (isBeginning(word) ? listedFor(word) : word === '*' ? [] : word))
  const words = row.kind.startsWith('harsh.')
    ? [custom]
    : [...new Set([...known, ...alertTypes.filter((word) => word === type)])]
  // What a custom event is about is in its message.
  const isExact = words.length > 0 && !words.includes(custom)
  return { words, isExact, matches: (event) => event.kind === row.kind || event.type === type }
}
