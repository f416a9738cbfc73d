/** What the tests of the preflight check share: findings by their name, and a sound folder for the key file. */
import { chmodSync } from 'node:fs'
import type { Test } from 'tap'
import { check } from '../../../src/cli/check/check.js'
import type { Finding } from '../../../src/cli/check/finding.js'
import { settings } from '../../../src/cli/check/settings.js'
import { readConfig } from '../../../src/config.js'

/** A folder as the gateway creates it. */
export function dataDir(t: Test): string {
  const dir = t.testdir({})
  chmodSync(dir, 0o700)
  return dir
}

/** Verdict and text of each finding by its name. */
const byName = (all: Finding[]): Record<string, string> =>
  Object.fromEntries(all.map(({ name, verdict, text }) => [name, `${verdict}: ${text}`]))
export const findings = async (env: Record<string, string>) => byName(await check(env))
export const settingsIn = (env: Record<string, string>) => byName(settings(readConfig(env), Object.keys(env)))
