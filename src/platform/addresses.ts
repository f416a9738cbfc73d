/** Addresses from the platform's geocoder. Lookups bypass breaker, bulkhead and reports: they say nothing about the rest of the platform. */
import { setTimeout as pause } from 'node:timers/promises'
import { BoundedMap } from '../lib/bounded-map.js'
import { parsedJson } from '../lib/parsed-json.js'
import { truncated } from '../lib/truncated.js'
import { textIn } from './body.js'
import { isOff } from './error-body.js'
import { failure, isMissingAction } from './errors.js'
import { HttpClient } from './http-client.js'
import { isObject } from './shape.js'

/** How a lookup ended; a closed list, safe as a metric label. */
export type LookupOutcome = 'found' | 'none' | 'failed' | 'over_budget'

interface AddressesOptions {
  /** The platform's API base. */
  url: string
  /** Lookups of all accounts together; one account has a quarter of them, at least one. */
  perMinute: number
  /** Monotonic milliseconds. */
  now: () => number
  onLookup: (outcome: LookupOutcome) => void
}

/** What a lookup has found, and for how long that holds; an address holds for good. */
interface Known {
  address: string | null
  until: number
}

interface Position {
  lat: number
  lng: number
}

/** Milliseconds that a response waits for a lookup. */
const maxWaitMs = 250
/** Milliseconds after which a lookup has failed. */
const timeoutMs = 2_000
const windowMs = 60_000
/** Sockets, apart from those of all other calls: a slow geocoder delays none of them. */
const connections = 4
/** Addresses to remember; beyond this, the oldest is forgotten. */
const maxEntries = 50_000
/** How long a missing address is cached: a geocoder that has used up its quota also responds with none. */
const noneForMs = 600_000
const readText = (body: AsyncIterable<Uint8Array>) => textIn(body, 16_384)
const maxAddressLength = 300

export class Addresses {
  readonly #options: AddressesOptions
  readonly #client: HttpClient
  readonly #known = new BoundedMap<string, Known>(maxEntries)
  readonly #pending = new Map<string, Promise<void>>()
  #window = { since: 0, used: 0, usedBy: new Map<string, number>() }

  constructor(options: AddressesOptions) {
    this.#options = options
    this.#client = new HttpClient({ url: options.url, connections })
  }

  /** The cached address; null where there is none, undefined if there is no cached result or it has expired. */
  get(account: string, position: Position): string | null | undefined {
    const known = this.#known.get(keyOf(account, position))
    return known && known.until > this.#options.now() ? known.address : undefined
  }

  /** The address, looked up if necessary; null where there is none, none in time, or no lookup left. Never rejects. */
  find(account: string, hash: string, position: Position): string | null | Promise<string | null> {
    const known = this.get(account, position)
    if (known !== undefined) return known
    const lookup = this.#pending.get(keyOf(account, position)) ?? this.#start(account, hash, position)
    if (!lookup) return null
    const timeout = pause(maxWaitMs, undefined, { ref: false })
    return Promise.race([lookup, timeout]).then(() => this.get(account, position) ?? null)
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  #start(account: string, hash: string, position: Position): Promise<void> | undefined {
    const { now, onLookup } = this.#options
    if (!this.#spend(account)) return void onLookup('over_budget')
    const key = keyOf(account, position)
    const { usedBy } = this.#window
    // It waits for a socket, perhaps for lookups of other accounts: its failure says nothing about its own account.
    const isQueued = this.#pending.size >= connections
    const lookup = requestAddress(this.#client, hash, position).then(
      (address) => {
        this.#known.set(key, { address, until: address === null ? now() + noneForMs : Number.POSITIVE_INFINITY })
        onLookup(address === null ? 'none' : 'found')
      },
      () => {
        // Stops the account's lookups until the minute ends.
        if (!isQueued) usedBy.set(account, Number.POSITIVE_INFINITY)
        onLookup('failed')
      },
    )
    this.#pending.set(key, lookup)
    return lookup.finally(() => this.#pending.delete(key))
  }

  /** Counts a lookup; false, and none is counted, if the account or all together have none left in this minute. */
  #spend(account: string): boolean {
    const { perMinute, now } = this.#options
    if (now() - this.#window.since >= windowMs) this.#window = { since: now(), used: 0, usedBy: new Map() }
    const { used, usedBy } = this.#window
    const own = usedBy.get(account) ?? 0
    if (used >= perMinute || own >= Math.max(1, Math.floor(perMinute / 4))) return false
    this.#window.used += 1
    usedBy.set(account, own + 1)
    return true
  }
}

/** Rounded to some 10 m. */
const keyOf = (account: string, { lat, lng }: Position): string => `${account} ${lat.toFixed(4)} ${lng.toFixed(4)}`

/** One lookup (platform.md 15). @returns null where there is no address. @throws as `HttpClient.send`. */
export async function requestAddress(client: HttpClient, hash: string, { lat, lng }: Position): Promise<string | null> {
  const signal = AbortSignal.timeout(timeoutMs)
  const body = await client
    .send({ action: 'address', hash, query: { lat, lng } }, signal, readText)
    .catch((error: unknown) => {
      if (!isMissingAction(error)) throw error
      return client.send({ action: 'geo_address', hash, query: { lat, lon: lng } }, signal, readText)
    })
  const text = body && addressIn(body)
  if (text === undefined) throw failure('address', 'wrong_shape')
  return /^-*$/.test(text) ? null : text
}

/** A plain text, a JSON text, or `location.address` or `address` of an object; undefined for anything else, such as a page or half of an object. */
function addressIn(body: string): string | undefined {
  const json = parsedJson(body)
  // A plain text may be a JSON number, such as `1010`.
  const value = (json === undefined || typeof json === 'number' ? body : json) as
    | string
    | { location?: { address?: unknown }; address?: unknown; status?: unknown }
    | null
  const found = typeof value === 'object' && value !== null ? (value.location ?? value).address : value
  // PHP also writes "nothing" as null and as an empty list (platform.md 2).
  const isNone = isObject(value) && !isOff(value.status) && Object.hasOwn(value, 'location') && found === undefined
  if (found === null || isNone || (Array.isArray(json) && json.length === 0)) return ''
  if (typeof found !== 'string' || /^\s*[<{]/.test(found)) return undefined
  return truncated(found.replace(/\s+/g, ' ').trim(), maxAddressLength)
}
