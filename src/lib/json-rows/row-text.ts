/** Shapes of rows, and a row's compact text: a flat JSON list of its values in the order of its shape. */

/** The fields to keep of an object: `'scalar'` one value, `[shape]` a list of objects, an object the fields of a nested object. */
export interface RowShape {
  readonly [field: string]: FieldShape
}
type FieldShape = 'scalar' | readonly [RowShape] | RowShape

/** A value once read: an absent or null value, and an object or list in its place, are `undefined`. */
export type Scalar = string | number | boolean | undefined

/** The shape of a list's items, or `undefined` if the field is no list. */
export const itemShape = (field: FieldShape): RowShape | undefined =>
  Array.isArray(field) ? (field[0] as RowShape) : undefined

export const isNested = (field: FieldShape): field is RowShape => typeof field === 'object' && !Array.isArray(field)

/** The name of each slot, such as `driver_data.id`. */
export const slotNames = (shape: RowShape): string[] =>
  Object.entries(shape).flatMap(([name, field]) =>
    isNested(field) ? slotNames(field).map((inner) => `${name}.${inner}`) : [name],
  )

/** Decodes compact texts. The code is generated, as no loop creates objects as fast; all names in it are the shape's. */
export function recordMaker(shape: RowShape): (text: string) => Record<string, unknown> {
  const make = new Function('v', `return ${fromList(shape, 'v')}`)
  return (text) => make(JSON.parse(text))
}

/** Reads some scalars of a row as it arrives, by generated code as well. @param shape of the row. @param fields a part of that shape. */
export function fieldReader(shape: RowShape, fields: RowShape): (row: unknown) => Record<string, unknown> {
  const names = slotNames(shape)
  const code = literal(fields, (name) => `row.scalar(${names.indexOf(name)})`)
  return new Function('row', `return ${code}`) as (row: unknown) => Record<string, unknown>
}

/** An object literal that takes its values from `list`; null means absent. */
function fromList(shape: RowShape, list: string): string {
  const names = slotNames(shape)
  return literal(shape, (name, field) => {
    const value = `${list}[${names.indexOf(name)}]`
    const item = itemShape(field)
    return item === undefined ? `${value}??undefined` : `(${value}??[]).map(${list}i=>(${fromList(item, `${list}i`)}))`
  })
}

/** @param codeOf the code for a field, by the name of its slot. */
function literal(shape: RowShape, codeOf: (name: string, field: FieldShape) => string, prefix = ''): string {
  const members = Object.entries(shape).map(([key, field]) => {
    const name = prefix + key
    return `${JSON.stringify(key)}:${isNested(field) ? literal(field, codeOf, `${name}.`) : codeOf(name, field)}`
  })
  return `{${members.join()}}`
}
