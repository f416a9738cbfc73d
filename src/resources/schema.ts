/** Schema fragments that several resources share. */
import { type Static, type TProperties, type TSchema, Type } from 'typebox'

/** Values of fields in the examples of resources. The document shows them only there, so they are not in the schemas. */
const exampleValues = new WeakMap<object, unknown>()

/** The schema, with its value in the example of a resource. */
export function withExample<T extends TSchema>(schema: T, value: unknown): T {
  exampleValues.set(schema, value)
  return schema
}

/** The value given to a schema, else its own example, else one made of its parts; null for a field without one. */
function exampleOf(schema: TSchema): unknown {
  const value = exampleValues.get(schema) ?? (schema as { examples?: [unknown] }).examples?.[0]
  if (value !== undefined) return value
  if (Type.IsLiteral(schema)) return schema.const
  if (Type.IsArray(schema)) return [exampleOf(schema.items)]
  if (Type.IsUnion(schema)) return exampleOf(schema.anyOf[0] as TSchema)
  if (!Type.IsObject(schema)) return null
  return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, exampleOf(field)]))
}

/** The schema of a response object, with an example made of its fields. Fields that it does not name are not sent. */
export function Resource<T extends TProperties>(title: string, description: string, fields: T) {
  const examples = [exampleOf(Type.Object(fields))]
  return Type.Object(fields, { additionalProperties: false, title, description, examples })
}

/** The schema of an object within a response object. */
export const Part = <T extends TProperties>(title: string, fields: T) =>
  Type.Object(fields, { additionalProperties: false, title })

/**
 * A string, number or boolean that may be null, as JSON Schema 2020-12 writes it (`type: ['number', 'null']`).
 * With a plain `number` the serializer writes null as 0.
 */
export const Nullable = <T extends { type: 'string' | 'number' | 'integer' | 'boolean' }>(of: T) =>
  withExample(Type.Unsafe<Static<T> | null>({ ...of, type: [of.type, 'null'] } as TSchema), exampleValues.get(of))

/** Numbers as exact as JSON has them: without a format, generators for Java, C#, Go and Rust read one or the other into 32 bits. */
export const Integer = (options: object) => Type.Integer({ format: 'int64', ...options })
export const Double = (options: object = {}) => Type.Number({ format: 'double', ...options })

const text = (description: string, example?: string | null, form: { pattern?: string; format?: string } = {}) =>
  withExample(Type.String({ ...form, description }), example)
const number = (description: string, example?: number | null, range: { minimum?: number; maximum?: number } = {}) =>
  withExample(Double({ ...range, description }), example)
const count = (description: string, example?: number) => withExample(Integer({ minimum: 0, description }), example)
const id = (description: string, example?: number) => withExample(Integer({ minimum: 1, description }), example)
const flag = (description: string, example?: boolean) => withExample(Type.Boolean({ description }), example)

/** The schemas of fields, by the kind of their value, with the value in the example of the resource: null by default where it may be. */
export const field = {
  text,
  number,
  count,
  id,
  flag,
  textOrNull: (...of: Parameters<typeof text>) => Nullable(text(...of)),
  numberOrNull: (...of: Parameters<typeof number>) => Nullable(number(...of)),
  countOrNull: (...of: Parameters<typeof count>) => Nullable(count(...of)),
  idOrNull: (...of: Parameters<typeof id>) => Nullable(id(...of)),
  flagOrNull: (...of: Parameters<typeof flag>) => Nullable(flag(...of)),
}

/** One of several fixed strings. */
export const Word = <const T extends readonly string[]>(
  words: T,
  { example, ...options }: { description: string; example?: T[number]; $defs?: { [value: string]: TSchema } },
) => withExample(Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options }), example)

/** The `object` field, which names the resource (spec.md, List envelope and Location). */
export const ObjectName = <const T extends string>(name: T) =>
  Type.Literal(name, { type: 'string', description: `Always \`${name}\`` })

const pattern = '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$'

/** `YYYY-MM-DD HH:MM:SS` without a time zone: the account's wall clock. */
export const WallClock = (description: string, example: string) =>
  text(`${description}, as \`YYYY-MM-DD HH:MM:SS\` on the account's clock`, example, { pattern })

/** `YYYY-MM-DD HH:MM:SS` of a time whose zone the platform does not send. */
export const PlatformTime = (description: string, example: string) =>
  text(`${description}, as \`YYYY-MM-DD HH:MM:SS\` as the platform writes it; its time zone is unknown`, example, {
    pattern,
  })

/** The fields `lat` and `lng` of a resource. */
export const LatLng = (lat: number, lng: number, note = '') => ({
  lat: number(`Latitude in decimal degrees (WGS84)${note}`, lat, { minimum: -90, maximum: 90 }),
  lng: number(`Longitude in decimal degrees (WGS84)${note}`, lng, { minimum: -180, maximum: 180 }),
})

/** The same of a resource that may have no position. */
export function LatLngOrNull(...example: [lat: number, lng: number]) {
  const { lat, lng } = LatLng(...example, '; null without a position')
  return { lat: Nullable(lat), lng: Nullable(lng) }
}
