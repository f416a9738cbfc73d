/** A record as the text of a flat list: the values of its fields in the order of its shape, those of records within it in their place. Knows no bytes. */
import { type Shape, shapeOfItems } from '../../platform/shape.js'

export type RowShape = { readonly [field: string]: Shape }

const isRecord = (shape: Shape): shape is RowShape => typeof shape === 'object' && !Array.isArray(shape)

/** The items of a list within a row, which are records; none where the shape is no list. */
function itemOf(shape: Shape): RowShape | undefined {
  const item = shapeOfItems(shape)
  if (item === undefined && !isRecord(shape) && shape !== 'scalar')
    throw new Error('a row holds scalars, records and lists of records')
  if (item !== undefined && !isRecord(item)) throw new Error('a list within a row holds records')
  return item
}

/** The names of all that has a place in the list, such as `driver_data.id`. */
export const fieldsOf = (shape: RowShape): string[] =>
  Object.entries(shape).flatMap(([name, of]) =>
    itemOf(of) === undefined && isRecord(of) ? fieldsOf(of).map((inner) => `${name}.${inner}`) : [name],
  )

/** The text of a record as `read` has made it. */
export const textOfRecord = (shape: RowShape, record: object): string => JSON.stringify(flat(shape, record))

function flat(shape: RowShape, record: object): unknown[] {
  return Object.entries(shape).flatMap(([name, of]) => {
    const value = record[name as keyof typeof record] as unknown
    const item = itemOf(of)
    if (item !== undefined) return [(value as object[]).map((each) => flat(item, each))]
    return isRecord(of) ? flat(of, value as object) : [value]
  })
}

/** Makes records of such texts, as `read` has made or would make them. Written out and compiled, as no loop makes objects as fast; the names are our own. */
export function recordMaker(shape: RowShape): (text: string) => Record<string, unknown> {
  const make = new Function('v', `return ${literal(shape, 'v', 0).code}`)
  return (text) => make(JSON.parse(text))
}

/** The literal of a record whose values stand in the list `list` from `from` on; an absent value is null there. */
function literal(shape: RowShape, list: string, from: number): { code: string; next: number } {
  let next = from
  const members = Object.entries(shape).map(([name, of]) => {
    const item = itemOf(of)
    if (item === undefined && isRecord(of)) {
      const inner = literal(of, list, next)
      next = inner.next
      return `${JSON.stringify(name)}:${inner.code}`
    }
    const value = `${list}[${next++}]`
    if (item === undefined) return `${JSON.stringify(name)}:${value}??undefined`
    return `${JSON.stringify(name)}:(${value}??[]).map(${list}i=>(${literal(item, `${list}i`, 0).code}))`
  })
  return { code: `{${members.join()}}`, next }
}
