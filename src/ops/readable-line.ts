/** A line of the log, which is JSON, for a terminal. Pure. */

/** Everything else is quoted: a terminal would obey a control character, and a format character may reverse the order of a line. */
const plain = /^[\w.,:;/'()<>=?$ -]+$/

export function readableLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const shown = (value: unknown): string =>
    typeof value === 'string' && plain.test(value)
      ? value
      : JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd')
  const rest = Object.entries(fields).map(([name, value]) => `${name}=${shown(value)}`)
  return `${[String(time).slice(11, 19), String(level).padEnd(5), shown(msg ?? ''), ...rest].join(' ')}\n`
}
