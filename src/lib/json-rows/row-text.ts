/** Shapes of rows, and a row's compact text: a flat JSON list of its values in the order of its shape. */

/** The fields to keep of an object: `'scalar'` one value, `[shape]` a list of objects, an object the fields of a nested object. */
export interface RowShape {
  readonly [field: string]: FieldShape
}
export type FieldShape = 'scalar' | readonly [RowShape] | RowShape

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
  const make = new Function('v', `return ${literal(shape, 'v', 0).code}`)
  return (text) => make(JSON.parse(text))
}

/** An object literal that takes its values from `list`, starting at index `from`; null means absent. */
function literal(shape: RowShape, list: string, from: number): { code: string; next: number } {
  let next = from
  const members = Object.entries(shape).map(([name, field]) => {
    const key = JSON.stringify(name)
    if (isNested(field)) {
      const inner = literal(field, list, next)
      next = inner.next
      return `${key}:${inner.code}`
    }
    const value = `${list}[${next++}]`
    const item = itemShape(field)
    if (item === undefined) return `${key}:${value}??undefined`
    return `${key}:(${value}??[]).map(${list}i=>(${literal(item, `${list}i`, 0).code}))`
  })
  return { code: `{${members.join()}}`, next }
}
