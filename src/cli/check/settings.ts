/** Checks of settings that are valid and still wrong for a deployment. Pure. */
import { type Config, Environment } from '../../config.js'
import { type Finding, fail, ok, warn } from './finding.js'

/** Only a deployment with a platform is meant for others than its developer. */
export function settings(config: Config, names: readonly string[]): Finding[] {
  const found = [publicUrl(config), trustProxy(config), demoToken(config), ...misspelt(names)]
  if (config.platformUrl === undefined || config.clock === Date.now) return found
  return [...found, fail('GATEWAY_CLOCK', 'the clock is fixed: positions never age, limits and keys never expire')]
}

/** Variables that the gateway ignores, although they resemble one that it reads. */
function misspelt(names: readonly string[]): Finding[] {
  const known = [...Object.keys(Environment.properties), 'PLATFORM_HASH']
  return names.flatMap((name) => {
    if (known.includes(name)) return []
    const meant = known.find((one) => isNear(one, name.toUpperCase(), one.length < 8 ? 1 : 2))
    return meant === undefined ? [] : [warn(name, `is ignored: is ${meant} meant?`)]
  })
}

/** Whether so many letters inserted, deleted, replaced, or swapped with the next turn one text into the other. */
function isNear(a: string, b: string, edits: number): boolean {
  if (a === b) return true
  if (edits === 0) return false
  if (a[0] === b[0]) return isNear(a.slice(1), b.slice(1), edits)
  const isSwapped = a[0] === b[1] && a[1] === b[0]
  return (
    isNear(a.slice(1), b, edits - 1) ||
    isNear(a, b.slice(1), edits - 1) ||
    isNear(a.slice(1), b.slice(1), edits - 1) ||
    (isSwapped && isNear(a.slice(2), b.slice(2), edits - 1))
  )
}

const isLocal = (host: string): boolean => /^(localhost|\[::1\]|127\..*|0\.0\.0\.0)$/.test(host)

function publicUrl({ publicUrl: url, platformUrl }: Config): Finding {
  const { hostname, protocol } = new URL(url)
  if (platformUrl === undefined) return ok('PUBLIC_URL', url)
  if (isLocal(hostname)) return warn('PUBLIC_URL', `${url}: links in errors and in the reference lead nowhere`)
  if (protocol === 'http:') return warn('PUBLIC_URL', `${url}: credentials would travel unencrypted`)
  return ok('PUBLIC_URL', url)
}

function trustProxy({ trustProxy: trusted, publicUrl: url }: Config): Finding {
  if (trusted !== false) return ok('TRUST_PROXY', 'client addresses come from the proxy')
  if (new URL(url).protocol !== 'https:') return ok('TRUST_PROXY', 'no proxy')
  return warn('TRUST_PROXY', 'unset, but TLS ends before the gateway: all clients share one address and its limit')
}

function demoToken({ demoToken: token, platformUrl }: Config): Finding {
  if (token === undefined) return ok('DEMO_TOKEN', 'no demo')
  if (platformUrl === undefined) return ok('DEMO_TOKEN', 'only the sandbox is served')
  if (/^(demo|test|sandbox)/i.test(token) || token.length < 12) {
    return warn('DEMO_TOKEN', 'easily guessed: strangers will use the sample data, and this process, with it')
  }
  return ok('DEMO_TOKEN', 'not easily guessed')
}
