/** Schema fragments that several resources share. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** The schema of a response object, with an example. Fields that it does not name are not sent. */
export const Resource = <T extends TProperties>(title: string, description: string, fields: T, example: object) =>
  Type.Object(fields, { additionalProperties: false, title, description, examples: [example] })

/** The schema of an object within a response object. */
export const Part = <T extends TProperties>(title: string, fields: T) =>
  Type.Object(fields, { additionalProperties: false, title })

/**
 * A string, number or boolean that may be null, as JSON Schema 2020-12 writes it (`type: ['number', 'null']`).
 * With a plain `number` the serializer writes null as 0.
 */
export const Nullable = <T extends { type: 'string' | 'number' | 'integer' | 'boolean' }>(of: T) =>
  Type.Unsafe<Static<T> | null>({ ...of, type: [of.type, 'null'] } as TSchema)

/** Numbers as exact as JSON has them: without a format, generators for Java, C#, Go and Rust read one or the other into 32 bits. */
export const Integer = (options: object) => Type.Integer({ format: 'int64', ...options })
export const Double = (options: object = {}) => Type.Number({ format: 'double', ...options })

type Range = { minimum?: number; maximum?: number }
const text = (description: string) => Type.String({ description })
const number = (description: string, range: Range = {}) => Double({ ...range, description })
const count = (description: string) => Integer({ minimum: 0, description })
const id = (description: string) => Integer({ minimum: 1, description })
const flag = (description: string) => Type.Boolean({ description })

/** The schemas of fields, by the kind of their value. */
export const field = {
  text,
  number,
  count,
  id,
  flag,
  textOrNull: (description: string) => Nullable(text(description)),
  numberOrNull: (description: string, range: Range = {}) => Nullable(number(description, range)),
  countOrNull: (description: string) => Nullable(count(description)),
  idOrNull: (description: string) => Nullable(id(description)),
  flagOrNull: (description: string) => Nullable(flag(description)),
}

/** One of several fixed strings. */
export const Word = <const T extends readonly string[]>(
  words: T,
  options: { description: string; $defs?: { [value: string]: TSchema } },
) => Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options })

/** The `object` field, which names the resource (spec.md, List envelope and Location). */
export const ObjectName = <const T extends string>(name: T) =>
  Type.Literal(name, { type: 'string', description: `Always \`${name}\`` })

const pattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$'

/** `YYYY-MM-DD HH:MM:SS` without a time zone: the account's wall clock. */
export const WallClock = (description: string) =>
  Type.String({ pattern, description: `${description}, as \`YYYY-MM-DD HH:MM:SS\` on the account's clock` })

/** `YYYY-MM-DD HH:MM:SS` of a time whose zone the platform does not send. */
export const PlatformTime = (description: string) =>
  Type.String({
    pattern,
    description: `${description}, as \`YYYY-MM-DD HH:MM:SS\` as the platform writes it; its time zone is unknown`,
  })

const latitude = (note = '') => number(`Latitude in decimal degrees (WGS84)${note}`, { minimum: -90, maximum: 90 })
const longitude = (note = '') => number(`Longitude in decimal degrees (WGS84)${note}`, { minimum: -180, maximum: 180 })

export const Latitude = latitude()
export const Longitude = longitude()

/** The fields `lat` and `lng` of a resource that may have no position. */
export const OptionalPosition = {
  lat: Nullable(latitude('; null without a position')),
  lng: Nullable(longitude('; null without a position')),
}
