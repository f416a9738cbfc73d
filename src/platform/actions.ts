/** The fixed list of platform actions the gateway asks, and what each answers when all is well. All of them only read. */

type Check = (data: Record<string, unknown>) => boolean
const has =
  (...keys: string[]): Check =>
  (data) =>
    keys.some((key) => Object.hasOwn(data, key))

/**
 * Per action, whether a JSON object is an answer to it (platform.md 3-9). The platform also has GETs that change data:
 * a path is never built from input, so whatever is not in this table cannot be asked.
 */
export const actions = {
  get_user_data: (data) => data.status === 1 || data.status === '1' || typeof data.email === 'string',
  edit_setup_data: has('item', 'timezones'),
  get_devices: (data) => has('items', 'data')(data) || Object.keys(data).some((key) => /^\d+$/.test(key)),
  get_geofences: has('items', 'geofences'),
  get_events: has('items'),
  get_history: has('items', 'distance_sum'),
  get_alerts: has('items', 'alerts'),
  services: has('data'),
  get_services: has('data'),
  get_user_drivers: has('items'),
} as const satisfies Record<string, Check>

export type Action = keyof typeof actions

/** A bare array answers `get_devices`; every other action answers an object. */
export function answers(action: Action, data: unknown): boolean {
  if (Array.isArray(data)) return action === 'get_devices'
  return typeof data === 'object' && data !== null && actions[action](data as Record<string, unknown>)
}
