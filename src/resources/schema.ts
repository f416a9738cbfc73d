/** Schema fragments that several resources share. */
import {
  type Static,
  type TBoolean,
  type TInteger,
  type TNumber,
  type TProperties,
  type TSchema,
  type TString,
  Type,
} from 'typebox'

/** The schema of a response object, with an example. Fields that it does not name are not sent. */
export const Resource = <T extends TProperties>(title: string, description: string, fields: T, example: object) =>
  Type.Object(fields, { additionalProperties: false, title, description, examples: [example] })

/**
 * A string, number or boolean that may be null, as JSON Schema 2020-12 writes it (`type: ['number', 'null']`).
 * With a plain `number` the serializer writes null as 0.
 */
export const Nullable = <T extends TString | TNumber | TInteger | TBoolean>(of: T) =>
  Type.Unsafe<Static<T> | null>({ ...of, type: [of.type, 'null'] } as TSchema)

/** One of several fixed strings. */
export const Word = <const T extends readonly string[]>(words: T, options: { description: string }) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options })

/** The `object` field, which names the resource (spec.md, List envelope and Location). */
export const ObjectName = <const T extends string>(name: T) =>
  Type.Literal(name, { type: 'string', description: `Always \`${name}\`` })

const pattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$'

/** `YYYY-MM-DD HH:MM:SS` without a time zone: the account's wall clock. */
export const WallClock = (description: string) =>
  Type.String({ pattern, description: `${description}, as \`YYYY-MM-DD HH:MM:SS\` on the account's clock` })

export const Id = (description: string) => Type.Integer({ minimum: 1, description })

const latitude = { minimum: -90, maximum: 90, description: 'Latitude in decimal degrees (WGS84)' }
const longitude = { minimum: -180, maximum: 180, description: 'Longitude in decimal degrees (WGS84)' }
const orNull = <T extends { description: string }>(options: T) => ({
  ...options,
  description: `${options.description}; null without a position`,
})

export const Latitude = Type.Number(latitude)
export const Longitude = Type.Number(longitude)

/** The fields `lat` and `lng` of a resource that may have no position. */
export const OptionalPosition = {
  lat: Nullable(Type.Number(orNull(latitude))),
  lng: Nullable(Type.Number(orNull(longitude))),
}
