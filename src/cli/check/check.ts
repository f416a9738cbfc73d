/** What is wrong with a deployment, before its callers find out. Changes nothing. */

import { type Config, ConfigError, readConfig } from '../../config.js'
import { type Finding, fail, ok } from './finding.js'
import { platformFindings } from './platform.js'
import { settings } from './settings.js'
import { storeFindings } from './store.js'

/** Every check in order; with an invalid configuration there is nothing else to ask. */
export async function check(env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => fail('configuration', problem))
    throw error
  }
  const [platform, store] = await Promise.all([
    platformFindings(config, env.PLATFORM_HASH || undefined),
    storeFindings(config),
  ])
  return [ok('configuration', 'valid'), ...settings(config), ...platform, ...store]
}

/** One line per finding, in columns, and a last line that sums up. */
export function table(findings: readonly Finding[]): string {
  const width = Math.max(...findings.map(({ name }) => name.length))
  const lines = findings.map(({ verdict, name, text }) => `${verdict.padEnd(4)}  ${name.padEnd(width)}  ${text}`)
  const count = (verdict: Finding['verdict']): number => findings.filter((one) => one.verdict === verdict).length
  return [...lines, '', `${count('fail')} to fix, ${count('warn')} to consider`].join('\n')
}
