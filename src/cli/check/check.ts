/** The preflight check: finds the problems of a deployment before its callers do. Leaves nothing behind. */
import { getHeapStatistics } from 'node:v8'
import { type Config, ConfigError, readConfig } from '../../config.js'
import { type Finding, fail, ok } from './finding.js'
import { platformFindings } from './platform.js'
import { memory, settings } from './settings.js'
import { storeFindings } from './store.js'

/** All findings in order. An invalid configuration ends the check. */
export async function check(env: Readonly<Record<string, string | undefined>>): Promise<Finding[]> {
  let config: Config
  try {
    config = readConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map((problem) => fail('configuration', problem))
    throw error
  }
  const [platform, store] = await Promise.all([
    platformFindings(config, env.PLATFORM_HASH?.trim() || undefined),
    storeFindings(config),
  ])
  const room = memory(getHeapStatistics().heap_size_limit, process.constrainedMemory())
  return [ok('configuration', 'valid'), ...settings(config, Object.keys(env)), ...room, ...platform, ...store]
}
