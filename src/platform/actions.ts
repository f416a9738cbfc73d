/** The platform actions that the gateway may request, all of them read-only, and how to recognise a response to each. */

import { isList, reportsError } from './error-body.js'
import { isObject } from './shape.js'

type Check = (data: Record<string, unknown>) => boolean

/** The key of a list. It may hold nothing, or words such as `No events`, but not beside an error, which may have `data: null` and a paginator. */
const list =
  (...keys: string[]): Check =>
  (data) =>
    keys.some((key) => key !== 'pagination' && isList(data[key])) ||
    (keys.some((key) => Object.hasOwn(data, key)) && !reportsError(data))

const pageKeys = ['items', 'data', 'pagination']
/** A page in any layout that `pageOf` reads. A key that is not usual must hold a list. */
const page =
  (...usual: string[]): Check =>
  (data) =>
    list(...usual, ...pageKeys.filter((key) => isList(data[key])))(data)

/**
 * Per action: whether a JSON object is a response to it (platform.md 3-9). The platform also has GETs that change data,
 * so paths come from this table and never from input.
 */
export const actions = {
  get_user_data: (data) =>
    data.status === 1 || data.status === '1' || (typeof data.email === 'string' && data.email.trim() !== ''),
  // Without its zone, times would silently be taken for UTC.
  edit_setup_data: ({ item }) => isObject(item) && Object.hasOwn(item, 'timezone_id'),
  // Groups with numeric keys, which an empty account or page has not.
  get_devices: (data) => {
    const keys = Object.keys(data)
    return list(...pageKeys)(data) || keys.length === 0 || keys.some((key) => /^\d+$/.test(key))
  },
  get_geofences: page('items', 'geofences'),
  get_events: page('items', 'events'),
  get_history: list('items'),
  // A response of any other form counts as an empty list.
  'call_actions/event_types': () => true,
  get_alerts: page('items', 'alerts'),
  services: page('data', 'services'),
  get_services: page('data', 'services'),
  get_user_drivers: page('items', 'drivers'),
  // Never called: address lookups read their responses themselves.
  address: () => true,
  geo_address: () => true,
} as const satisfies Record<string, Check>

export type Action = keyof typeof actions

export type Query = Readonly<Record<string, string | number | undefined>>

/** The action and the parameters of a request to the platform. */
export interface PlatformQuery {
  readonly action: Action
  readonly query: Query
}

/** Whether data is a response to the action: only `get_devices` may be a bare array. */
export function isResponseTo(action: Action, data: unknown): boolean {
  if (Array.isArray(data)) return action === 'get_devices'
  return isObject(data) && actions[action](data)
}
