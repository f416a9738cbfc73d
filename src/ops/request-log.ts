/** The request log line. Ours, because it is most of the log, its fields are known, and pino takes four times as long to write it. */

/** The outcome of one request; undefined fields are left out. */
export interface RequestLogEntry {
  reqId: string
  method: string
  /** The pattern of the route; null if there is none. */
  route: string | null
  status: number
  ms: number
  /** The code of an error response. */
  error: string | undefined
  /** `Account.id`. */
  account: string | undefined
  credential: string | undefined
  /** The id of the API key. */
  key: string | undefined
  ip: string
}

const plain = /^[ !#-[\]-~]*$/

/** A JSON string: a proxy may forward any text as an address. */
const quoted = (text: string): string => (plain.test(text) ? `"${text}"` : JSON.stringify(text))

/** Of characters that JSON does not escape: codes, fingerprints and ids. */
const optional = (name: string, text: string | undefined): string => (text === undefined ? '' : `,"${name}":"${text}"`)

/** @param time the member `time` as pino writes it, with its comma. */
export function requestLogLine(entry: RequestLogEntry, time: string): string {
  const { reqId, method, route, status, ms, error, account, credential, key, ip } = entry
  const request = `"reqId":"${reqId}","method":"${method}","route":${route === null ? null : `"${route}"`}`
  const caller = `${optional('account', account)}${optional('credential', credential)}${optional('key', key)},"ip":${quoted(ip)}`
  return `{"level":"info"${time},${request},"status":${status},"ms":${ms}${optional('error', error)}${caller},"msg":"request"}\n`
}
