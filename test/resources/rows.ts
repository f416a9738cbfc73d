/** What the tests of resources share: tables of platform rows, with the fields expected of each translation. */
import t from 'tap'

/** The translation of each row must have exactly these values in these fields; `more` goes to it beside the row. */
export const check = <T extends object, R, M>(
  title: string,
  translate: (raw: R, more?: M) => T | undefined,
  rows: [name: string, raw: R, expected: Partial<T>, more?: M][],
) =>
  t.test(title, async (t) => {
    for (const [name, raw, expected, more] of rows) {
      const found = translate(raw, more)
      t.strictSame({ ...found, ...expected }, found, name)
    }
  })

/** A function must return exactly the first value of a row for each of the others. */
export const maps = <V>(title: string, of: (value: V) => unknown, rows: [expected: unknown, ...values: V[]][]) =>
  t.test(title, async (t) => {
    for (const [expected, ...values] of rows)
      for (const value of values) t.strictSame(of(value), expected, `${JSON.stringify(value) ?? value}`)
  })
