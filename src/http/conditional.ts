/** Entity tags of response bodies, and whether a client has the current one (RFC 9110 8.8.3 and 13.1.2). */
import { hash } from 'node:crypto'

/** The weak tag of an uncompressed body: the same for all its encodings. SHA-256 takes 0.5 µs for a location, 0.2 ms for 300 kB. */
export const entityTag = (body: string | Buffer): string => `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

/** Whether `If-None-Match` names the tag, by weak comparison. */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ['*', tag].includes(ifNoneMatch.trim()) || ifNoneMatch.split(',').some((one) => opaque(one) === opaque(tag))
}
