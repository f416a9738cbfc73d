/** Invented values in place of real ones, derived from a secret: the same value always becomes the same. */
import { createHmac } from 'node:crypto'
import { type Rotation, rotationBy } from './rotation.js'

const vowels = 'aeiou'
const consonants = 'bcdfghjklmnpqrstvwxyz'
const feistelRounds = 6

/** The digits of an id that are replaced. Leading zeros stay: a gateway accepts no id with them. */
export const idDigits = /(?<=^0*)[1-9]\d{0,14}$/

/** Invented values have the shape of the real ones. All positions turn by one rotation of the sphere. */
export class Pseudonyms {
  readonly #secret: string
  readonly rotation: Rotation

  constructor(secret: string) {
    this.#secret = secret
    const seed = this.#bytes('rotation', '')
    this.rotation = rotationBy([0, 4, 8].map((at) => seed.readUInt32BE(at) / 2 ** 32) as [number, number, number])
  }

  /** Detects all but one of 65,536 other secrets, and is too short to reveal this one. */
  get fingerprint(): string {
    return this.#bytes('fingerprint', '').toString('hex', 0, 2)
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

  /** Another id with as many digits, at most 15; no two ids become the same. */
  id(id: number): number {
    return this.#mapped(id, false)
  }

  /** The id that `id` replaces by this one. */
  originalId(id: number): number {
    return this.#mapped(id, true)
  }

  #mapped(id: number, isInverse: boolean): number {
    const min = 10 ** (String(id).length - 1)
    const size = 9 * min
    const half = Math.ceil(Math.log2(size) / 2)
    let permuted = id - min
    // A Feistel network permutes 2^(2 * half) numbers; repeating it stays within `size` (cycle walking).
    do permuted = this.#permute(permuted, half, isInverse)
    while (permuted >= size)
    return min + permuted
  }

  #permute(number: number, half: number, isInverse: boolean): number {
    const base = 2 ** half
    const noise = (round: number, part: number): number =>
      this.#bytes('id', `${half} ${round} ${part}`).readUInt32BE(0) % base
    let [left, right] = [Math.floor(number / base), number % base]
    for (let round = 0; round < feistelRounds; round++) {
      if (isInverse) [left, right] = [(right - noise(feistelRounds - 1 - round, left) + base) % base, left]
      else [left, right] = [right, (left + noise(round, right)) % base]
    }
    return left * base + right
  }
}
