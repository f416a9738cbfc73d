/** Pure: which exchange answers a question, and which comes nearest to one that none answers. */
import { type Exchange, fileNameOf, type Question } from './exchange.js'

/** As a recorded value: whatever was sent, as long as something was. */
const any = '*'

/** A parameter in which a question and a recorded one disagree; `asked` is absent where it was not sent. */
type Difference = { name: string; asked?: string; recorded: string }

const differences = (question: Question, exchange: Exchange): Difference[] =>
  Object.entries(exchange.query)
    .map(([name, recorded]) => ({ name, asked: askedFor(question, name), recorded }))
    .filter(({ asked, recorded }) => asked !== recorded && (asked === undefined || recorded !== any))
    .map(({ asked, ...rest }) => (asked === undefined ? rest : { ...rest, asked }))

/** Who names no page asks for the first. */
const askedFor = ({ query }: Question, name: string): string | undefined =>
  query[name] ?? (name === 'page' ? '1' : undefined)

/** The exchange that names the most parameters of the question, exactly rather than by `*`, and none that differs. */
export function match(question: Question, exchanges: readonly Exchange[]): Exchange | undefined {
  let best: Exchange | undefined
  let most = -1
  for (const exchange of exchanges) {
    if (exchange.action !== question.action) continue
    const score = agreement(question, exchange)
    if (score > most) [best, most] = [exchange, score]
  }
  return best
}

/** -1 when a parameter differs; else the more the more parameters are named, an exact one for more than a `*`. */
function agreement(question: Question, { query }: Exchange): number {
  let score = 0
  for (const name in query) {
    const asked = askedFor(question, name)
    if (asked === undefined || (query[name] !== any && query[name] !== asked)) return -1
    score += query[name] === any ? 100 : 101
  }
  return score
}

/** Of exchanges that do not answer the question the one that comes nearest, and in what it differs. */
export function nearest(
  question: Question,
  exchanges: readonly Exchange[],
): { file: string; action?: string; differs: Difference[] } | undefined {
  const likeness = (exchange: Exchange) => commonPrefix(exchange.action, question.action)
  const same = exchanges.filter((exchange) => exchange.action === question.action)
  const [best] = (same.length > 0 ? same : [...exchanges]).sort(
    (a, b) => likeness(b) - likeness(a) || differences(question, a).length - differences(question, b).length,
  )
  if (best === undefined) return undefined
  const differs = differences(question, best)
  const file = fileNameOf(best)
  return best.action === question.action ? { file, differs } : { file, action: best.action, differs }
}

function commonPrefix(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length++
  return length
}
