/** Removes identifying data from an exchange: everything that is not known to be the platform's own word is replaced. */
import type { Exchange, PlatformRequest, RecordedResponse } from './exchange.js'
import { isCredentialKey } from './find-leaks.js'
import { headersOf } from './headers.js'
import { jsonIn } from './json-lines.js'
import {
  identityKey,
  idKey,
  idOwnerKey,
  listKey,
  measureKey,
  measureType,
  nameKey,
  plainKey,
  termKey,
  textKey,
  timeKey,
} from './keys.js'
import { idDigits, type Pseudonyms } from './pseudonym.js'
import {
  isCoordinateKey,
  isFine,
  isPosition,
  isRotatedKey,
  isRotatedSensor,
  relocate,
  relocateArray,
  relocatePair,
  rotatedSensors,
  toNumber,
} from './relocate.js'
import { isTermOf } from './terms.js'
import { endsPlate, isPlate, measured, tokensOf, withoutEscapes } from './tokens.js'
import { isDaylightSaving, nameLikeUnit, unit, vocabulary } from './vocabulary.js'

const unitAlone = new RegExp(`^(?:${unit}|${nameLikeUnit})$`, 'iu')
const tagged = /<([a-z]\w*)>([^<]+)(?=<\/\1>)/g
const markup = /^\s*(?:<([a-z]\w*)>\s*[^<\s][^<]*(?=<\/\1>)|<\/?[a-z]\w*>\s*)+$/

/** What a parameter is, whatever it is part of: `id` for `id[]`, `id[1]` and `filters[id]`. */
const bare = (name: string): string => name.replace(/\[\d*\]$/, '').replace(/^[a-z_]+\[([a-z_]+)\]$/, '$1')

/** Whether an action looks an address up: its response is a text, as JSON or plain. */
export const isAddressLookup = (action: string): boolean => /^(geo_address|address(\/reverse)?)$/.test(action)

export type Scrub = (exchange: Exchange) => Exchange

/** A request with its ids of devices mapped, for example back to the real ones. */
export function withIds({ action, query }: PlatformRequest, map: (id: number) => number): PlatformRequest {
  const mapped = (text: string): string => text.replace(idDigits, (digits) => String(map(Number(digits))))
  const isId = (name: string): boolean => idKey.test(name) || (name === 'id' && action.startsWith('get_devices'))
  return {
    action: action.replace(/(?<=^services\/)\d+$/, mapped),
    query: Object.fromEntries(
      Object.entries(query).map(([name, text]) => [name, isId(bare(name)) ? mapped(text) : text]),
    ),
  }
}

/** A scrubber whose replacements all come from one set of pseudonyms. */
export const buildScrub = (pseudonyms: Pseudonyms): Scrub => new Scrubber(pseudonyms).scrub

/** A `key` is the name of the member that holds the value, or its list. */
class Scrubber {
  readonly #pseudonyms: Pseudonyms
  /** Of the response that is being scrubbed. */
  #rotatedSensors = new Set<string>()

  constructor(pseudonyms: Pseudonyms) {
    this.#pseudonyms = pseudonyms
  }

  readonly scrub: Scrub = ({ action, query, responses, ...rest }) => {
    const isDevices = action.startsWith('get_devices')
    const scrubbed = this.#record(isDevices ? 'device' : '', query) as Exchange['query']
    const ownKey = isDevices ? 'get_devices' : action === 'get_user_data' ? 'user' : listKey.test(action) ? action : ''
    const key = isAddressLookup(action) ? 'address' : ownKey
    // A coordinate is written as a client writes it after it has read the scrubbed one: without zeros at the end.
    for (const name of Object.keys(scrubbed).filter(isCoordinateKey)) scrubbed[name] = `${toNumber(scrubbed[name])}`
    return {
      ...rest,
      action: action.replace(/(?<=^services\/)\d+$/, (found) => this.#id(found)),
      query: scrubbed,
      responses: responses.map((response) => this.#response(key, response)),
    }
  }

  #response(key: string, { json, html, text, headers, ...rest }: RecordedResponse): RecordedResponse {
    this.#rotatedSensors = new Set(rotatedSensors(json))
    return {
      ...rest,
      ...headersOf(headers),
      ...(json === undefined ? {} : { json: this.#value(key, json) }),
      ...(html === undefined ? {} : { html: '<!DOCTYPE html><title>A page of the platform</title>' }),
      ...(text === undefined ? {} : { text: this.#text(text, true) }),
    }
  }

  #value(key: string, raw: unknown): unknown {
    if (raw === null || raw === '' || typeof raw === 'boolean') return raw
    if (isCredentialKey(key)) return typeof raw === 'string' ? 'scrubbed' : null
    if (typeof raw === 'string') return this.#string(key, raw)
    if (typeof raw === 'number') return this.#number(key, raw)
    return Array.isArray(raw) ? this.#list(key, raw) : this.#record(key, raw as Record<string, unknown>)
  }

  #string(key: string, raw: string): string {
    const isJson = /^\s*[[{]/.test(raw)
    if (idKey.test(key) && /\d/.test(raw) && !isJson) return this.#id(raw)
    if (isRotatedKey(key) && /\d/.test(raw)) return '0'
    if (identityKey.test(key)) return this.#pseudonyms.shaped(raw)
    // As `#number`: events are in the order of their ids.
    if (key === 'id' && /^[1-9]\d{0,9}$/.test(raw)) return raw
    if (termKey.test(key) && (isTermOf(key, raw) || unitAlone.test(raw))) return raw
    if (measureKey.test(key) && (/^-?\d{1,6}(\.\d+(e[+-]?\d{1,3})?)?$/i.test(raw) || measured.test(raw))) return raw
    if (timeKey.test(key) && isStamp(raw)) return raw
    const nested = isJson ? jsonIn(raw) : undefined
    if (nested !== undefined) return JSON.stringify(this.#value(key, nested))
    if (markup.test(raw)) {
      const named = this.#named([...raw.matchAll(tagged)].map(([, tag = '', inner = '']) => [tag, inner]))
      return raw.replace(tagged, (_, tag) => `<${tag}>${named[tag]}`)
    }
    // The names in broken JSON are unknown, and so are the meanings of its numbers.
    return this.#text(raw, isJson || textKey.test(key))
  }

  /** @param isText whether people wrote it: its numbers may be part of a name. A name in it shows that people wrote it, too. */
  #text(raw: string, isText: boolean): string {
    let hasName = false
    const text = withoutEscapes(raw)
    const scrubbed = text
      .replace(/(?<=\b(?:user|device|geofence)_id=)\d+/g, (found) => this.#id(found))
      .replace(tokensOf(text), (found: string, ...rest: unknown[]) => {
        const kinds = rest.at(-1) as Record<string, string | undefined>
        if (kinds.hash !== undefined) return 'scrubbed'
        if (kinds.url !== undefined) return 'https://platform.example.com/'
        if (kinds.email !== undefined) return this.#pseudonyms.email(found)
        if (kinds.pair !== undefined) return relocatePair(this.#pseudonyms.rotation, found)
        if (kinds.half !== undefined) return '0'
        if (kinds.groups !== undefined) return this.#pseudonyms.shaped(found.replaceAll(/%3a/gi, ':'))
        if (kinds.encoded !== undefined) return this.#pseudonyms.shaped(found.replaceAll('%', ''))
        const keeps =
          (kinds.date ?? kinds.harsh) !== undefined ||
          (kinds.quantity !== undefined && !(isText && kinds.named) && !isPlate(found, isText)) ||
          (kinds.number !== undefined && !isText) ||
          (kinds.word !== undefined && vocabulary.has(found.toLowerCase()) && !endsPlate(found, rest))
        // Short and in lower case it may be a unit, such as `bar`.
        if (!keeps && kinds.word !== undefined && !/^\p{Ll}{1,4}$/u.test(found)) hasName = true
        return keeps ? found : this.#pseudonyms.shaped(found)
      })
    return hasName && !isText ? this.#text(text, true) : scrubbed
  }

  /** Values by name, for example the tags `<lat>` and `<lng>` of a text. */
  #named(values: [string, string][]): Record<string, string> {
    const moved = relocate(this.#pseudonyms.rotation, Object.fromEntries(values))
    return Object.fromEntries(values.map(([name, raw]) => [name, String(moved[name] ?? this.#value(name, raw))]))
  }

  #number(key: string, raw: number): number {
    if (idKey.test(key)) return this.#id(raw)
    if (isRotatedKey(key) || (isFine(raw) && !measureKey.test(key))) return 0
    // A phone has nine digits or more, but so may the id of an event.
    const isTime = timeKey.test(key) && isStamp(String(raw))
    const isLong = Math.abs(raw) >= (/(^|_)id$/.test(key) ? 1e10 : 1e8) && !isTime
    // 0 and 1 are also flags.
    const isName = nameKey.test(key) && raw !== 0 && raw !== 1
    if (!identityKey.test(key) && !isName && !isLong) return raw
    // From 1e21 on a number has an exponent instead of all its digits.
    const digits = String(raw)
    return /[^\d.-]/.test(digits) ? 0 : Number(this.#pseudonyms.shaped(digits).replace(/^0+(?=\d)/, '1'))
  }

  #id<T extends string | number>(raw: T): T {
    if (Number(raw) === 0) return raw
    const id = `${raw}`
    const mapped = idDigits.test(id) ? id.replace(idDigits, (n) => `${this.#pseudonyms.id(+n)}`) : this.#text(id, true)
    return (typeof raw === 'number' ? Number(mapped) || 0 : mapped) as T
  }

  #list(key: string, raw: unknown[]): unknown[] {
    if (isPosition(key, raw)) return relocateArray(this.#pseudonyms.rotation, raw)
    if (key !== 'other_arr') {
      const hasPosition = raw.some(isFine) && !measureKey.test(key)
      return raw.map((item) => (hasPosition && isDecimal(item) ? 0 : this.#value(key, item)))
    }
    const pairs = raw.map((item): [string, string] => {
      const [, name = '', rest = String(item)] = /^(\w+): (.*)$/.exec(String(item)) ?? []
      return [name, rest]
    })
    const named = this.#named(pairs)
    return pairs.map(([name, rest]) => (name === '' ? this.#text(rest, true) : `${name}: ${named[name]}`))
  }

  #record(key: string, raw: Record<string, unknown>): Record<string, unknown> {
    const moved = relocate(this.#pseudonyms.rotation, raw)
    const ownsId = idOwnerKey.test(key) || 'device_data' in raw || 'online' in raw
    // Without a position beside it, a course or a coordinate in a sensor becomes 0.
    const isRotated = isRotatedSensor(raw) || this.#rotatedSensors.has(`${raw.id}`)
    const isMeasure = typeof raw.type === 'string' && measureType.test(raw.type)
    const keyOf = (name: string): string => {
      if ((isRotated || isMeasure) && /^(val|value|formatted)$/.test(name)) return isRotated ? 'lat' : 'distance'
      // Values by the id of their sensor; a number is the index of a list.
      if (this.#rotatedSensors.has(name) && !/^\d+$/.test(name)) return 'lat'
      if (listKey.test(key) && /^(items|data)$/.test(name)) return hasGroups(raw[name]) ? key : key.replace('get_', '')
      // All of an address: the ids of its place are those of a public map.
      const isPart = key === 'address' && name !== 'status' && !isCredentialKey(name) && !isCoordinateKey(name)
      // A list may be sent as an object: `{"1": …, "3": …}`.
      return isPart || /^\d+$/.test(name) ? key : bare(name)
    }
    const item = (name: string, value: unknown): unknown => {
      if (isDaylightSaving(key, name, value)) return value
      const isId = bare(name) === 'id' && ownsId && (typeof value === 'number' || typeof value === 'string')
      return isId ? this.#id(value) : (moved[name] ?? this.#value(keyOf(name), value))
    }
    // A name that people wrote stays recognizable as one: in `--check` it does not count.
    const nameOf = (name: string): string =>
      plainKey.test(name) ? name : this.#text(name, true).replace(plainKey, '$&*')
    // Rows may be named by their ids: by all of them, or a name that stays could become that of another row.
    const isById =
      /^(devices|geofences|users)$/.test(key) && Object.entries(raw).every(([name, one]) => name === idIn(one))
    const nameIn = (name: string): string => (isById ? this.#id(name) : nameOf(name))
    return Object.fromEntries(Object.entries(raw).map(([name, one]) => [nameIn(name), item(name, one)]))
  }
}

/** Whether a list has groups of rows instead of rows, or whether its rows are further in. */
function hasGroups(raw: unknown): boolean {
  const list = typeof raw === 'string' ? jsonIn(raw) : raw
  const has = (name: string, one: unknown): boolean => typeof one === 'object' && one !== null && name in one
  return has('data', list) || Object.values(list ?? []).some((one) => has('items', one))
}

/** The id of a row, or the value itself, as text. */
const idIn = (value: unknown): string =>
  `${typeof value === 'object' && value !== null && 'id' in value ? value.id : value}`

/** Unix seconds or milliseconds as text. */
const isStamp = (text: string): boolean => /^1\d{9}(\d{3})?(\.\d+)?$/.test(text)
const isDecimal = (value: unknown): boolean => typeof value === 'number' && !Number.isInteger(value)
