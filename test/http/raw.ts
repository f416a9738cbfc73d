/** Requests as bytes on a connection, for what no HTTP client would send. */
import { connect } from 'node:net'

export interface RawResponse {
  status: number
  headers: Headers
  body: string
}

/** Sends bytes and reads until the gateway closes the connection. */
export const exchange = (url: string, bytes: string): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(bytes, 'latin1'))
    socket.setEncoding('utf8')
    socket.on('data', (chunk) => {
      text += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
  })

/** The responses in a text, each with a `Content-Length`. */
export function responsesIn(text: string): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const [line = '', ...lines] = rest.slice(0, end).split('\r\n')
    const fields = lines.map((one): [string, string] => {
      const colon = one.indexOf(':')
      return [one.slice(0, colon), one.slice(colon + 1).trim()]
    })
    const headers = new Headers(fields)
    const length = Number(headers.get('content-length'))
    const body = rest.slice(end + 4, end + 4 + length)
    responses.push({ status: Number(line.split(' ')[1]), headers, body })
    if (end < 0) break
    rest = rest.slice(end + 4 + length)
  }
  return responses
}

/** The only response to some bytes. */
export async function raw(url: string, bytes: string): Promise<RawResponse> {
  const [first] = responsesIn(await exchange(url, bytes))
  if (first === undefined) throw new Error('closed without a response')
  return first
}
