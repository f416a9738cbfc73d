/** Content coding of response bodies: negotiation, Brotli and gzip. A body that stays in memory is compressed once. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

/** Bodies up to this size are sent as they are. */
const maxPlainBytes = 1_024

const brotli = promisify(brotliCompress)
/** A higher quality than 4 takes several times as long. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }

const encoders = { br: (body: Buffer) => brotli(body, brotliOptions), gzip: promisify<Buffer, Buffer>(gzip) }
type Encoding = keyof typeof encoders

export const isCompressible = (body: string | Buffer): boolean => Buffer.byteLength(body) > maxPlainBytes

/** The coding with the greatest weight in `Accept-Encoding`, Brotli if both have it (RFC 9110 12.5.3); undefined for none. */
export function encodingFor(accept: string | undefined): Encoding | undefined {
  if (accept === undefined) return undefined
  const weights = new Map(accept.toLowerCase().split(',').map(weightIn))
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const best = weightOf('gzip') > weightOf('br') ? 'gzip' : 'br'
  return weightOf(best) > 0 && weightOf(best) >= (weights.get('identity') ?? 0) ? best : undefined
}

/** A coding with its weight; a weight that is no number is 0. */
function weightIn(part: string): [coding: string, weight: number] {
  const [coding = '', ...parameters] = part.split(';').map((text) => text.trim())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  return [coding, weight === undefined ? 1 : Number(weight.slice(2)) || 0]
}

/** A short result is a part of a buffer of 16 KiB, all of which it would keep in memory. */
const exact = (bytes: Buffer): Buffer => Buffer.from(new Uint8Array(bytes).buffer)

const compressed = new WeakMap<Buffer, Map<Encoding, Promise<Buffer>>>()

/** The compressed body, remembered as long as the buffer is in memory. */
export function compress(body: Buffer, encoding: Encoding): Promise<Buffer> {
  const known = compressed.get(body) ?? new Map<Encoding, Promise<Buffer>>()
  const result = known.get(encoding) ?? encoders[encoding](body).then(exact)
  compressed.set(body, known.set(encoding, result))
  return result
}
