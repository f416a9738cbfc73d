/** What the tests of hostile conditions share: memory per entry, the complete 503, an unknown host, a certificate. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Test } from 'tap'
import type { Answer } from './helper.js'
import { hasCommonHeaders } from './http/headers.js'

/** Minutes instead of seconds: real time limits run out, and everything happens more often. */
export const isLong = process.env.FAULTS === 'long'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes of the heap, and of buffers outside it, without garbage. */
export function usedBytes(): number {
  collect()
  // Waits until the buffers that the first one found are freed.
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** The memory that each of many entries keeps, kB. @param add makes the entry of a number. */
export async function kilobytesKept(add: (n: number) => unknown, count = 1_000): Promise<number> {
  // The first one loads code.
  await add(count)
  const before = usedBytes()
  for (let n = 0; n < count; n += 1) await add(n)
  return (usedBytes() - before) / 1024 / count
}

/** The 503 of the interface, complete. */
export function isUnavailable(t: Test, { status, headers, body }: Answer, name: string): void {
  t.equal(status, 503, `${name}: status`)
  t.equal(body?.error, 'gateway_error', `${name}: code`)
  t.match(body?.message, /\S/, `${name}: message`)
  t.match(body?.docs, /#error-gateway_error$/, `${name}: link`)
  t.match(headers.get('retry-after'), /^[1-9]\d*$/, `${name}: Retry-After`)
  hasCommonHeaders(t, headers, name)
}

/** A host that does not exist: no label has more than 63 characters, so no name server is queried, which may be slow or away. */
export const nowhere = `${'x'.repeat(64)}.invalid`

/** The files of a key and its self-signed certificate, made in `dir`. @param hosts that the certificate is for: this machine. */
export function certificate(dir: string, hosts = 'DNS:localhost,IP:127.0.0.1'): { key: string; cert: string } {
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const make = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -keyout ${key} -out ${cert}`
  const names = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${hosts}`]
  execFileSync('openssl', [...make.split(' '), ...names], { stdio: 'ignore' })
  return { key, cert }
}
