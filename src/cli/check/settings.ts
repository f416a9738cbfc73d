/** Checks of settings that are valid and still wrong for a deployment. Pure. */
import { type Config, Environment } from '../../config.js'
import { type Finding, fail, ok, warn } from './finding.js'

/** Only a deployment with a platform is meant for others than its developer. */
export function settings(config: Config, names: readonly string[]): Finding[] {
  const found = [publicUrl(config), trustProxy(config), demoToken(config), ...misspelt(names)]
  if (config.platformUrl === undefined || config.clock === Date.now) return found
  return [...found, fail('GATEWAY_CLOCK', 'the clock is fixed: positions never age, and keys never expire')]
}

/**
 * A container whose memory V8's heap may fill, with what is beside it: the system then ends the process. Measured with 384 MB, and not with 512.
 * @param heapBytes how far the heap may grow. @param limitBytes what the container may use, where that is known.
 */
export function memory(heapBytes: number, limitBytes = 0): Finding[] {
  if (limitBytes === 0 || heapBytes <= 0.55 * limitBytes) return []
  const [heap, limit] = [heapBytes, limitBytes].map((bytes) => `${Math.round(bytes / 1024 ** 2)} MB`)
  return [
    warn('memory', `${limit}, of which the heap may fill ${heap}: the system may end the process; give it 512 MB`),
  ]
}

/** Variables that the gateway ignores, although they resemble one that it reads. */
function misspelt(names: readonly string[]): Finding[] {
  const known = [...Object.keys(Environment.properties), 'PLATFORM_HASH']
  return names.flatMap((name) => {
    if (known.includes(name)) return []
    const meant = known.find((one) => isNear(one, name.toUpperCase()))
    return meant === undefined ? [] : [warn(name, `is ignored: is ${meant} meant?`)]
  })
}

/** Whether `name` lacks the end of `known`, such as a unit, or has its letters in any order, at most one in eight wrong. */
function isNear(known: string, name: string): boolean {
  const isStart = name.includes('_') && known.startsWith(name)
  return isStart || Math.max(missing(known, name), missing(name, known)) <= known.length / 8
}

/** How many letters of `a` are not in `b`. */
const missing = (a: string, b: string): number => [...b].reduce((rest, letter) => rest.replace(letter, ''), a).length

const isLocal = (host: string): boolean => /^(localhost|\[::1\]|127\..*|0\.0\.0\.0)$/.test(host)

function publicUrl({ publicUrl: url, platformUrl }: Config): Finding {
  const { hostname, protocol, pathname } = new URL(url)
  if (platformUrl === undefined) return ok('PUBLIC_URL', url)
  if (isLocal(hostname)) return warn('PUBLIC_URL', `${url}: links in errors and in the reference lead nowhere`)
  if (protocol === 'http:') return warn('PUBLIC_URL', `${url}: credentials would travel unencrypted`)
  if (pathname === '/') return warn('PUBLIC_URL', `${url}: links lead nowhere without /api, unless the proxy adds it`)
  return ok('PUBLIC_URL', url)
}

function trustProxy({ trustProxy: trusted, publicUrl: url }: Config): Finding {
  if (trusted !== false) return ok('TRUST_PROXY', 'client addresses come from the proxy')
  if (new URL(url).protocol !== 'https:') return ok('TRUST_PROXY', 'no proxy')
  return warn(
    'TRUST_PROXY',
    'no proxy trusted, but TLS ends before the gateway: all clients share one address and its limit',
  )
}

function demoToken({ demoToken: token, platformUrl }: Config): Finding {
  if (token === undefined) return ok('DEMO_TOKEN', 'no demo')
  if (platformUrl === undefined) return ok('DEMO_TOKEN', 'only the sandbox is served')
  if (/^(demo|test|sandbox)/i.test(token) || token.length < 12) {
    return warn('DEMO_TOKEN', 'easily guessed: strangers will use the sample data, and this process, with it')
  }
  return ok('DEMO_TOKEN', 'not easily guessed, but /api/docs shows it')
}
