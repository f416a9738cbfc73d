/** JSON texts: their value if they have one, and the line of each value in them and of the first syntax error. */
import { shown } from './find-leaks.js'

const tokens = /\n|[{}[\],:]|"(?:[^"\\\n]|\\.)*"|[^ \t\n\r{}[\],:"]+|"/g

/** The significant digits of a number; its exponent follows from them where it has been rounded to no others. */
const digitsOf = (number: string): string =>
  number
    .replace(/e.*/i, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
    .replace(/(?<!0)0+$/, '')

/** The value of a JSON text; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * JSON pointer (RFC 6901) → line, from 1.
 * @throws SyntaxError naming the file, with line, expected and found, which `JSON.parse` reports only sometimes.
 */
export function linesOf(text: string, file: string): Map<string, number> {
  const lines = new Map<string, number>()
  const found = text.matchAll(tokens)
  /** The next token, empty at the end, and its line. */
  let [token, line] = ['', 1]
  const skip = (): void => {
    const next = (): string => found.next().value?.[0] ?? ''
    for (token = next(); token === '\n'; token = next()) line += 1
  }
  const take = (...expected: string[]): string => {
    const taken = token
    if (!expected.includes(taken)) fail(expected.join(' or '))
    skip()
    return taken
  }
  const fail = (expected: string): never => {
    const visible = shown(token).replace(/[^\S ]/g, (space) => `U+${space.charCodeAt(0).toString(16).padStart(4, '0')}`)
    throw new SyntaxError(`${file}: line ${line}: expected ${expected}, found ${visible || 'the end of the file'}`)
  }
  const scalar = (expected: string): unknown => {
    const value = jsonIn(token)
    if (value === undefined) fail(expected)
    // `--format` would write another one.
    // Older PHP writes all 17 digits: 41.399999999999999.
    const isSame = (written: string): boolean => digitsOf(written) === digitsOf(token)
    if (typeof value === 'number' && ![String(value), value.toPrecision(17)].some(isSame))
      fail('a number that JavaScript can hold, or the body as `text`')
    skip()
    return value
  }
  const name = (): string => {
    if (!token.startsWith('"')) fail('a name in double quotes')
    const key = String(scalar('a name in double quotes'))
    take(':')
    return key.replaceAll('~', '~0').replaceAll('/', '~1')
  }
  const value = (path: string): void => {
    // `JSON.parse` takes the last one, and `--format` would delete the others.
    if (lines.has(path)) fail('each name once')
    lines.set(path, line)
    const close = token === '[' ? ']' : token === '{' ? '}' : undefined
    if (close === undefined) return void scalar('a value')
    skip()
    if (token === close) return void skip()
    let index = 0
    do value(`${path}/${close === ']' ? index++ : name()}`)
    while (take(',', close) === ',')
  }
  skip()
  value('')
  if (token !== '') fail('the end of the file')
  return lines
}
