/** The schema pieces several nouns share; knows no noun and no translation. */
import { type Static, type TInteger, type TNumber, type TSchema, type TString, Type } from 'typebox'

/**
 * A string or number that may be null, written as JSON Schema 2020-12 does (`type: ['number', 'null']`).
 * The serializer writes null as null here; with a plain `number` it would write 0.
 */
export const Nullable = <T extends TString | TNumber | TInteger>(of: T) =>
  Type.Unsafe<Static<T> | null>({ ...of, type: [of.type, 'null'] } as TSchema)

/** One of a few words. */
export const Word = <const T extends readonly string[]>(words: T, options: { description: string }) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options })

const pattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$'

/** `YYYY-MM-DD HH:MM:SS` without zone: the account's wall clock. */
export const WallClock = (description: string) =>
  Type.String({ pattern, description: `${description}, as \`YYYY-MM-DD HH:MM:SS\` on the account's clock` })

export const Id = (description: string) => Type.Integer({ minimum: 1, description })
export const Latitude = Type.Number({ minimum: -90, maximum: 90, description: 'Latitude in decimal degrees (WGS84)' })
export const Longitude = Type.Number({
  minimum: -180,
  maximum: 180,
  description: 'Longitude in decimal degrees (WGS84)',
})
