/** An idle fleet polled with `If-None-Match`, beside the same polls with the whole body, plain and compressed. */
import { request } from 'undici'
import { type Bench, hash, location, pageOf50 } from './bench.js'
import { contestants, type Entry } from './cached.js'
import { race, type Table } from './table.js'

const plain = '200, plain'

export async function idleFleet(bench: Bench): Promise<Table[]> {
  const server = await bench.gateway()
  const tables: Table[] = []
  for (const [name, path] of Object.entries({ location, 'page of 50 devices': pageOf50 })) {
    const { headers, body } = await request(server.url + path, { headers: { authorization: `Bearer ${hash}` } })
    await body.dump()
    const polls: Record<string, Record<string, string>> = {
      [plain]: {},
      '200, gzip': { 'accept-encoding': 'gzip' },
      '200, br': { 'accept-encoding': 'br' },
      '304, same tag': { 'if-none-match': String(headers.etag) },
    }
    const entries = Object.entries(polls).map(([poll, sent]): Entry => [poll, server, path, hash, sent])
    const subject = `An idle ${name}, polled`
    const note = 'Bytes are those of a whole response, headers included. A location is too small to be compressed.'
    tables.push({ subject, note, ...(await race(contestants(bench, entries), bench.rounds, [plain])) })
  }
  return tables
}
