/** Daylight saving time in the platform's setup: dates, rules, or a country (platform.md 9.3). */
import { DateTime } from 'luxon'
import type { Scalar } from '../platform/shape.js'
import type { WireSetup } from '../platform/wire.js'
import { displayTime } from './display-time.js'
import { text } from './units.js'

/** `MM-DD HH:MM`, or a rule such as the last Sunday of March; on the account's standard clock. */
type Edge = string | { month: number; position: number; weekday: number; time: string }

/** The summer in which one hour is added, or the name of an IANA zone with the same standard time. */
export type DaylightSaving = { summer?: { from: Edge; to: Edge }; name?: string }

/** `MM-DD HH:MM` of the same text with or without a year and seconds; midnight without a time. */
function yearDay(value: string | undefined): string | undefined {
  const [, day] = /^(?:\d{4}-)?(\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?)$/.exec(value ?? '') ?? []
  return day && displayTime(`2024-${day}`)?.slice(5, 16)
}

const months = 'january february march april may june july august september october november december'.split(' ')
const weekdays = 'monday tuesday wednesday thursday friday saturday sunday'.split(' ')
const positions = ['first', 'second', 'third', 'fourth', 'last']

/**
 * The rule in the settings of one edge. Their names are not documented, but the words to choose from are (`months`, `weekdays`,
 * `week_pos`), so each value shows what it is. Midnight without a time.
 */
function ruleIn(settings: Record<string, Scalar>, edge: 'from' | 'to'): Edge | undefined {
  const fields = Object.entries(settings).filter(([name]) => name.endsWith(`_${edge}`))
  const words = fields.map(([, value]) => text(value)?.toLowerCase() ?? '')
  const indexIn = (list: readonly string[]): number => list.findIndex((word) => words.includes(word))
  const [month, weekday, position] = [indexIn(months), indexIn(weekdays), indexIn(positions)]
  if (Math.min(month, weekday, position) < 0) return undefined
  const [time = '00:00'] = words.flatMap((word) => displayTime(`2024-01-01 ${word}`)?.slice(11, 16) ?? [])
  return { month: month + 1, position, weekday: weekday + 1, time }
}

/** `MM-DD HH:MM` of an edge in a year. */
export function edgeText(edge: Edge, year: number): string {
  if (typeof edge === 'string') return edge
  const { month, position, weekday, time } = edge
  // Not by luxon: a long history with such rules would take five times as long.
  const firstDay = 1 + ((weekday - new Date(Date.UTC(year, month - 1, 1)).getUTCDay() + 7) % 7)
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate()
  const weeks = position === positions.length - 1 ? Math.floor((days - firstDay) / 7) : position
  const [mm, dd] = [month, firstDay + 7 * weeks].map((part) => String(part).padStart(2, '0'))
  return `${mm}-${dd} ${time}`
}

/** Countries of the platform's list whose English name is another one now, or that have the time of a neighbour. */
const renamed = new Map([
  ['akrotiri & dhekelia', 'cyprus'],
  ['aland islands', 'åland islands'],
  ['czech republic', 'czechia'],
  ['kosovo', 'serbia'],
  ['macedonia', 'north macedonia'],
  ['palestine', 'palestinian territories'],
  ['saint pierre & miquelon', 'st. pierre & miquelon'],
  ['the bahamas', 'bahamas'],
  ['united states of america', 'united states'],
  ['usa', 'united states'],
])

/** One spelling of a country: the platform writes `and`, and `(UK)` after a territory. */
function plainName(country: string): string {
  const [name = ''] = country.toLowerCase().split('(')
  const plain = name.replace(' and ', ' & ').trim()
  return renamed.get(plain) ?? plain
}

const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
const regionCodes = letters.flatMap((first) => letters.map((second) => first + second))

/** The code of a country by its English name, the first of several. */
function regionOf(country: string): string | undefined {
  const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const name = plainName(country)
  return regionCodes.find((code) => names.of(code)?.toLowerCase() === name)
}

/** The year by whose rules a country is matched; any other would do. */
const matchedYear = 2026

/** The IANA zone of the setup's country that has this standard offset and daylight saving time. */
function zoneName({ user_dst, dst_countries }: WireSetup, offsetMinutes: number): string | undefined {
  const countryId = text(Object.entries(user_dst).find(([name]) => name.startsWith('country'))?.[1])
  const country = countryId && dst_countries.find(({ id }) => text(id) === countryId)
  const region = country && regionOf(text(country.value) ?? '')
  if (!region) return undefined
  // A getter in older versions of V8, a method in newer ones.
  const locale: Intl.Locale & { timeZones?: string[]; getTimeZones?: () => string[] } = new Intl.Locale(`und-${region}`)
  return (locale.getTimeZones?.() ?? locale.timeZones)?.find((zone) => {
    const offsets = [1, 7].map((month) => DateTime.fromObject({ year: matchedYear, month }, { zone }).offset)
    return Math.min(...offsets) === offsetMinutes && Math.max(...offsets) > offsetMinutes
  })
}

/**
 * `exact` has dates, `other` rules, `automatic` dates or a country. No setup with any of them was recorded. Assumed: it adds one
 * hour; dates and rules are on the standard clock; a country follows the IANA time zone database. Settings that cannot be read
 * mean standard time all year.
 */
export function daylightSaving(setup: WireSetup, offsetMinutes: number): DaylightSaving {
  const settings = setup.user_dst
  const type = text(settings.type)?.toLowerCase() ?? ''
  if (!['exact', 'other', 'automatic'].includes(type)) return {}
  const edge = (name: 'from' | 'to'): Edge | undefined =>
    type === 'other' ? ruleIn(settings, name) : yearDay(text(settings[`date_${name}`]))
  const [from, to] = [edge('from'), edge('to')]
  if (from && to) return { summer: { from, to } }
  const name = type === 'automatic' ? zoneName(setup, offsetMinutes) : undefined
  return name === undefined ? {} : { name }
}
