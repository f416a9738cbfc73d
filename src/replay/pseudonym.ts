/** Invented values in place of real ones, derived from a secret: the same value always becomes the same. */
import { createHmac } from 'node:crypto'

const vowels = 'aeiou'
const consonants = 'bcdfghjklmnpqrstvwxyz'

/**
 * Invented values have the shape of the real ones. All coordinates move by one offset: 20 to 160 degrees of longitude, which
 * changes no distance, and up to 0.02 degrees of latitude, which changes none by more than 0.1 % up to 70 degrees north or south.
 */
export class Pseudonyms {
  readonly #secret: string
  readonly #shift: { lat: number; lng: number }

  constructor(secret: string) {
    this.#secret = secret
    const seed = this.#bytes('offset', '')
    const part = (at: number) => seed.readUInt32BE(at) / 0xffffffff
    const away = 20 + 140 * part(0)
    this.#shift = { lat: 0.04 * part(4) - 0.02, lng: (seed[8] ?? 0) & 1 ? away : -away }
  }

  #bytes(kind: string, text: string): Buffer {
    return createHmac('sha512', this.#secret).update(`${kind}\n${text}`).digest()
  }

  /** Letters become letters of the same case, digits digits; the rest stays. 15 digits in a row become an IMEI that begins with 99. */
  shaped(text: string): string {
    const noise = this.#bytes('shape', text.toLowerCase())
    let at = 0
    const next = () => (noise[at % noise.length] ?? 0) + Math.floor(at++ / noise.length)
    const swapped = text.replace(/\p{N}|\p{L}\p{M}*/gu, (char) => {
      if (/\p{N}/u.test(char)) return String(next() % 10)
      const letters = at % 2 === 0 ? consonants : vowels
      const letter = letters[next() % letters.length] ?? 'x'
      return char === char.toLowerCase() ? letter : letter.toUpperCase()
    })
    return swapped.replace(/(?<!\d)\d{15}(?!\d)/g, (imei) => `99${imei.slice(2)}`)
  }

  email(address: string): string {
    return `p${this.#bytes('email', address.toLowerCase()).toString('hex').slice(0, 10)}@example.com`
  }

  /** Moves a coordinate in decimal degrees, with at least six decimals. 0 means no fix and stays. */
  coordinate(axis: 'lat' | 'lng', text: string): string {
    const value = Number(text)
    if (value === 0 || !Number.isFinite(value)) return text
    const moved = value + this.#shift[axis]
    const wrapped = axis === 'lat' ? Math.max(-90, Math.min(90, moved)) : ((((moved + 180) % 360) + 360) % 360) - 180
    return wrapped.toFixed(Math.min(15, Math.max(6, text.split('.')[1]?.length ?? 0)))
  }
}
