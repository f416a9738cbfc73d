/** Lists in the patterns of `t.match`. */

/** A list of these items and no more. As a pattern, a list itself matches a longer one as well. */
export const only = (...items: unknown[]): object => ({ ...items, length: items.length })
