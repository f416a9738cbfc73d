/** The words that stay in a recording: the platform's own, and those by which the gateway reads it. */

/** Words that stay in every text. They identify no account, and are no usual names. */
export const vocabulary = new Set(
  `a acceleration account ack alarm alerts am and api attempts authenticated authentication available battery blocked brake braking circle connected credentials custom
   data date days db deactivated device devices distance door drive driver drivers duration end engine error errors event events expired expires failed false
   feet field found from fuel gallon geofences get gmt gps gsm h harsh has hash history hours id idle ignition in inactive invalid is items kilometer left liter liters log login
   many meter mile min minutes more moving mt network no none not null odometer of off offline on online out overspeed page please pm polygon position positions
   record records required result results s satellites selected sensor services sim sos speed start status stop subscription tag temperature the theft time to token too true
   unauthorized unauthenticated ungrouped user utc valid value volts was were wrong yes zone`.split(/\s+/),
)

/** Between two words, also none: `HarshBraking`, `Brake: hard`. */
const gap = '[^\\p{L}\\p{N}]{0,3}'
const inEitherOrder = (one: string, other: string): string =>
  `(?:${one})${gap}(?:${other})|(?:${other})${gap}(?:${one})`
/** What says harsh driving; `hard`, `sharp` or `brusca` alone may be a name. */
export const harshDriving = [
  inEitherOrder(
    '(?:abrupt|harsh|rapid|sharp|sudden)(?:ly)?|hard',
    '(?:ac|de)cel(?:erat(?:ion|ing|ed))?|brak(?:e|ed|ing)|breaking',
  ),
  inEitherOrder('brusc[ao]|abrupt[ao]', '(?:des)?acelera(?:ci[oó]n|[cç][aã]o|da)|fren(?:ada|ado|agem|azo)|freada'),
].join('|')

/** Units after a number, in every text. */
export const unit =
  'kph|km\\/h|mi\\/h|mph|km|mi|nm|kn|kts?|m[23²³]|mt?|met(?:er|re)s?|ft|lt?|ltr|gl|liters?|litres?|rpm|v|h|hrs?|mins?|s|secs?|d|%|°c|°f|hours?|minutes?|seconds?|days?|kmh'
/** Units after a number that may also be names or the letter of a house: not in a text that people write. */
export const nameLikeUnit = 'miles?|foot|feet|knots?|litros?|seg|d[ií]as?|horas?|v[ad]c|[cf]'

/** Words that stay in the rules of daylight saving only: some are names. */
const calendar = new Set(
  `january february march april may june july august september october november december monday tuesday wednesday thursday friday
   saturday sunday first second third fourth last none exact automatic other`.split(/\s+/),
)
const country = /^[\p{L}\p{M} ().,'\u2019&-]+$/u

/** Whether a value is in the list of countries, the same for every account, or a calendar word in a rule of daylight saving. */
export const isDaylightSaving = (parent: string, key: string, value: unknown): boolean =>
  typeof value === 'string' &&
  (parent === 'dst_countries'
    ? key === 'value' && country.test(value)
    : parent === 'user_dst' && calendar.has(value.trim().toLowerCase()))
