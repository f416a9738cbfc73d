/** Calls of an action that the platform has for single devices only. */
import { isPermanent, type PlatformError } from './errors.js'
import { maxConcurrent } from './window.js'

/** After this many devices without data, and none with, the platform is taken to refuse the action itself. */
const maxRefused = 20

/**
 * The rows of all devices, in their order. A device that the platform refuses, and would refuse again, is left out (platform.md N07: it is blocked).
 * @throws the first failure that may pass, or that shows a changed platform; if all devices are refused, one of the refusals.
 */
export async function eachDevice<T>(ids: readonly number[], call: (id: number) => Promise<T[]>): Promise<T[]> {
  const orRefused = (error: unknown): PlatformError => {
    if (isPermanent(error) && error.reason !== 'wrong_shape') return error
    throw error
  }
  const lists: T[][] = []
  for (let at = 0; at < ids.length; at += maxConcurrent) {
    const results = await Promise.all(ids.slice(at, at + maxConcurrent).map((id) => call(id).catch(orRefused)))
    lists.push(...results.filter(Array.isArray))
    const isLast = at + maxConcurrent >= Math.min(ids.length, maxRefused)
    if (isLast && lists.length === 0) throw results[0]
  }
  return lists.flat()
}
