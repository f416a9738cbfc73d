/** Pseudo-random numbers that depend only on a seed and the keys they are drawn for. */

/** A number in [0, 1), always the same for the same keys; keys are 32-bit integers. */
export function roll(seed: number, ...keys: number[]): number {
  let hash = seed ^ 0x9e3779b9
  for (const key of keys) {
    hash = Math.imul(hash ^ key, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    hash ^= hash >>> 16
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 12)) >>> 0) / 2 ** 32
}

/** A whole number in [low, high]. */
export function between(low: number, high: number, fraction: number): number {
  return low + Math.floor(fraction * (high - low + 1))
}
