/** Settings that are valid and still wrong for a deployment. Pure; asks nobody. */
import type { Config } from '../../config.js'
import { type Finding, ok, warn } from './finding.js'

const isLocal = (host: string): boolean =>
  host === 'localhost' || host === '[::1]' || /^127\./.test(host) || host === '0.0.0.0'

/** With a platform to talk to the deployment is meant for others than its developer. */
export function settings(config: Config): Finding[] {
  return [publicUrl(config), trustProxy(config), demoToken(config)]
}

function publicUrl({ publicUrl: raw, platformUrl }: Config): Finding {
  const { hostname, protocol } = new URL(raw)
  if (platformUrl === undefined) return ok('PUBLIC_URL', raw)
  if (isLocal(hostname)) return warn('PUBLIC_URL', `${raw}: links in errors and in the reference lead nowhere`)
  if (protocol === 'http:') return warn('PUBLIC_URL', `${raw}: credentials would travel unencrypted`)
  return ok('PUBLIC_URL', raw)
}

function trustProxy({ trustProxy: trusted, publicUrl: raw }: Config): Finding {
  const isBehind = new URL(raw).protocol === 'https:'
  if (trusted !== false) return ok('TRUST_PROXY', 'callers are told apart behind the proxy')
  if (!isBehind) return ok('TRUST_PROXY', 'no proxy')
  return warn('TRUST_PROXY', 'unset, but https ends before the gateway: all callers share one address and its limit')
}

const shortestToken = 12

function demoToken({ demoToken: token, platformUrl }: Config): Finding {
  if (token === undefined) return ok('DEMO_TOKEN', 'no demo')
  if (platformUrl === undefined) return ok('DEMO_TOKEN', 'the sandbox is all there is')
  if (/^(demo|test|sandbox)/i.test(token) || token.length < shortestToken) {
    return warn('DEMO_TOKEN', 'easily guessed: strangers will use the sample data, and this process, with it')
  }
  return ok('DEMO_TOKEN', 'not easily guessed')
}
