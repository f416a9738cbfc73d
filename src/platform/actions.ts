/** The platform actions that the gateway may request, all of them read-only, and how to recognise a response to each. */

import { isObject } from './shape.js'

type Check = (data: Record<string, unknown>) => boolean
const has =
  (...keys: string[]): Check =>
  (data) =>
    keys.some((key) => Object.hasOwn(data, key))

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
    return has('items', 'data', 'pagination')(data) || keys.length === 0 || keys.some((key) => /^\d+$/.test(key))
  },
  get_geofences: has('items', 'geofences'),
  get_events: has('items'),
  get_history: has('items'),
  // Any other list is as good as none.
  'call_actions/event_types': () => true,
  get_alerts: has('items', 'alerts'),
  services: has('data'),
  get_services: has('data'),
  get_user_drivers: has('items'),
  // Both respond with a text.
  address: () => true,
  geo_address: () => true,
} as const satisfies Record<string, Check>

export type Action = keyof typeof actions

/** Whether data is a response to the action: only `get_devices` may be a bare array. */
export function isResponseTo(action: Action, data: unknown): boolean {
  if (Array.isArray(data)) return action === 'get_devices'
  return isObject(data) && actions[action](data)
}
