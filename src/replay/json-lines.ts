/** JSON texts: their value if they have one, and the line of each value in them and of the first syntax error. */

interface Token {
  text: string
  line: number
}

const tokens = /\n|[ \t\r]+|[{}[\],:]|"(?:[^"\\\n]|\\.)*"|[^\s{}[\],:"]+|"/g

/** The value of a JSON text; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * JSON pointer (RFC 6901, not escaped) → line, from 1.
 * @throws SyntaxError with line, expected and found, which `JSON.parse` reports only sometimes.
 */
export function linesOf(text: string): Map<string, number> {
  const found: Token[] = []
  let line = 1
  for (const [token] of text.matchAll(tokens)) {
    if (token === '\n') line += 1
    else if (token.trim() !== '') found.push({ text: token, line })
  }
  found.push({ text: 'the end of the file', line })
  const lines = new Map<string, number>()
  let at = 0
  const fail = (expected: string): never => {
    const { text, line } = found[at] as Token
    throw new SyntaxError(`line ${line}: expected ${expected}, found ${text}`)
  }
  const isNext = (text: string): boolean => found[at]?.text === text
  const take = (...texts: string[]): string => {
    if (!texts.some(isNext)) fail(texts.join(' or '))
    return (found[at++] as Token).text
  }
  const scalar = (expected: string): unknown => {
    const { text } = found[at] as Token
    try {
      const value: unknown = JSON.parse(text)
      at += 1
      return value
    } catch {
      return fail(expected)
    }
  }
  const list = (close: string, item: (index: number) => void): void => {
    at += 1
    if (isNext(close)) return void take(close)
    let index = 0
    do item(index++)
    while (take(',', close) === ',')
  }
  const value = (path: string): void => {
    lines.set(path, (found[at] as Token).line)
    if (isNext('[')) list(']', (index) => value(`${path}/${index}`))
    else if (isNext('{')) members(path)
    else scalar('a value')
  }
  const members = (path: string): void =>
    list('}', () => {
      if (!found[at]?.text.startsWith('"')) fail('a name in double quotes')
      const name = scalar('a name in double quotes')
      take(':')
      value(`${path}/${name}`)
    })
  value('')
  if (at < found.length - 1) fail('the end of the file')
  return lines
}
