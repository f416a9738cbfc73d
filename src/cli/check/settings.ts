/** Checks of settings that are valid and still wrong for a deployment. Pure. */
import type { Config } from '../../config.js'
import { type Finding, ok, warn } from './finding.js'

/** Only a deployment with a platform is meant for others than its developer. */
export function settings(config: Config): Finding[] {
  return [publicUrl(config), trustProxy(config), demoToken(config)]
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
