/** One line of the preflight check, and the report of all lines. */
import { table } from '../output.js'

/** `fail` = it will not work; `warn` = it works, but deserves attention. */
type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
  name: string
  verdict: Verdict
  /** Holds no credential. */
  text: string
}

export const ok = (name: string, text: string): Finding => ({ name, verdict: 'ok', text })
export const warn = (name: string, text: string): Finding => ({ name, verdict: 'warn', text })
export const fail = (name: string, text: string): Finding => ({ name, verdict: 'fail', text })

/** One line per finding, and a summary. */
export function report(findings: readonly Finding[]): string {
  const count = (verdict: Verdict): number => findings.filter((finding) => finding.verdict === verdict).length
  const lines = table(findings.map(({ verdict, name, text }) => [verdict, name, text]))
  return `${lines}\n\n${count('fail')} to fix, ${count('warn')} to consider`
}
