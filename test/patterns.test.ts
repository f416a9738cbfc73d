/** No regular expression of the gateway takes more than linear time, whatever text it is given. */
import { readdirSync, readFileSync } from 'node:fs'
import { checkSync } from 'recheck'
import t from 'tap'
import ts from 'typescript'

interface Pattern {
  /** File and line. */
  at: string
  source: string
  flags: string
}

/** The regular expression literals of a source, and the calls of `RegExp` whose pattern no linter can read. */
function patternsOf(name: string, text: string): { patterns: Pattern[]; dynamic: string[] } {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest)
  const patterns: Pattern[] = []
  const dynamic: string[] = []
  const at = (node: ts.Node): string => `${name}:${file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1}`
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      patterns.push({ at: at(node), source: node.text.slice(1, end), flags: node.text.slice(end + 1) })
    }
    const isCall = ts.isNewExpression(node) || ts.isCallExpression(node)
    if (isCall && ts.isIdentifier(node.expression) && node.expression.text === 'RegExp') dynamic.push(at(node))
    ts.forEachChild(node, visit)
  }
  visit(file)
  return { patterns, dynamic }
}

/** Without an unbounded quantifier the time per character is constant; the checker only guesses about large counts. */
const isBounded = (source: string): boolean => !/[*+]|\{\d+,\}/.test(source)

/**
 * The same on every machine: nothing is timed. A fast one would take a quadratic pattern for a linear one (`recallTimeout`), and on a slow one
 * the parts of the search would end early, which finds what is none. Where the checker searches at random, the seed decides.
 */
const untimed = { timeout: null, seedingTimeout: null, incubationTimeout: null, attackTimeout: null }
const options = { ...untimed, recallTimeout: -1, randomSeed: 0 }

const isSafe = ({ source, flags }: Pattern): boolean =>
  isBounded(source) || checkSync(source, flags, options).status === 'safe'

/** Files whose patterns are put together from constants, for texts that no caller and no platform sends. */
const composed = ['src/reference/html.ts', 'src/replay/scrub.ts', 'src/replay/tokens.ts']

t.test('every pattern in src takes linear time, and none is made of text', async (t) => {
  const wrong = 'const a = / +$/\nconst b = /^(a+)+$/\nconst c = /^ *x$/\nconst d = new RegExp(text)'
  const control = patternsOf('x.ts', wrong)
  t.same([control.patterns.map(isSafe), control.dynamic], [[false, false, true], ['x.ts:4']], 'a bad one is found')
  const names = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const found = names.map((name) => patternsOf(`src/${name}`, readFileSync(`src/${name}`, 'utf8')))
  const patterns = found.flatMap((one) => one.patterns)
  t.ok(patterns.length > 50, `${patterns.length} patterns`)
  const verdicts = new Map<string, boolean>()
  for (const pattern of patterns) {
    const key = `/${pattern.source}/${pattern.flags}`
    if (!verdicts.has(key)) verdicts.set(key, isSafe(pattern))
    t.ok(verdicts.get(key), `${pattern.at} ${key}`)
  }
  const dynamic = found.flatMap((one) => one.dynamic.filter((at) => !composed.includes(at.replace(/:\d+$/, ''))))
  t.same(dynamic, [], 'patterns made of text')
})
