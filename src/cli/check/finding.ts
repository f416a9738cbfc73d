/** One line of what `--check` tells. Knows nothing of what is checked. */

/** `fail` = it will not work; `warn` = it works, but somebody should know. */
export type Verdict = 'ok' | 'warn' | 'fail'

export interface Finding {
  name: string
  verdict: Verdict
  /** For people; holds no credential. */
  text: string
}

export const ok = (name: string, text: string): Finding => ({ name, verdict: 'ok', text })
export const warn = (name: string, text: string): Finding => ({ name, verdict: 'warn', text })
export const fail = (name: string, text: string): Finding => ({ name, verdict: 'fail', text })
