/** Entity tags of response bodies, and whether a client has the current one (RFC 9110 8.8.3 and 13.1.2). */
import { hash } from 'node:crypto'

/** Tags of bodies that stay in memory. */
const tags = new WeakMap<Buffer, string>()

/** The weak tag of an uncompressed body: the same for all its encodings. SHA-256 takes 0.5 µs for a location, 0.2 ms for 300 kB. */
export function entityTag(body: string | Buffer): string {
  const known = typeof body === 'string' ? undefined : tags.get(body)
  if (known !== undefined) return known
  const tag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  if (typeof body !== 'string') tags.set(body, tag)
  return tag
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** Whether `If-None-Match` names the tag, by weak comparison. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined || ifNoneMatch === tag) return ifNoneMatch !== undefined
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((one) => opaque(one) === opaque(tag))
}
