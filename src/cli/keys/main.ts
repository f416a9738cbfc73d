/** The operator's command line for API keys; works on the store of the gateway's own environment, while the gateway runs. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, ConfigError, readConfig } from '../../config.js'
import type { OnDamaged } from '../../store/damage.js'
import { openStore } from '../../store/open.js'
import { StoreUnavailable } from '../../store/store.js'
import { commands, NothingFound, type Outcome, UsageError } from './commands.js'

const usage = `npm run keys -- <command> [--json]

${Object.values(commands)
  .map((command) => `  ${command.usage}`)
  .join('\n')}

It reads the environment of the gateway: REDIS_URL, or else DATA_DIR.
Exit codes: 0 done, 1 no such key or no store, 2 not understood.`

/** Exit codes; scripts rely on them. */
const exit = { done: 0, failed: 1, misunderstood: 2 }

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false }, help: { type: 'boolean', default: false } },
  })
  if (values.help) {
    console.log(usage)
    return exit.done
  }
  const [name = '', ...args] = positionals
  if (!Object.hasOwn(commands, name)) throw new UsageError(name === '' ? 'no command' : `no command ${name}`)
  const { json, text } = await perform(readConfig(process.env), name, args)
  console.log(values.json ? JSON.stringify(json) : text)
  return exit.done
}

async function perform(config: Config, name: string, args: readonly string[]): Promise<Outcome> {
  const dataDir = resolve(config.dataDir)
  // Opening would make an empty store, and everything would seem to be in order.
  if (config.redisUrl === undefined && !existsSync(dataDir)) {
    throw new NothingFound(`There is no folder ${dataDir}. Is DATA_DIR, or REDIS_URL, set as it is for the gateway?`)
  }
  const onDamaged: OnDamaged = (what, start) => console.error(`Skipped a damaged entry: ${what} ${start}…`)
  const deps = { clock: Date.now, onError: () => {}, onDamaged }
  const store = await openStore({ redisUrl: config.redisUrl, dataDir }, deps)
  try {
    const command = commands[name]
    if (!command) throw new UsageError(`no command ${name}`)
    return await command.run(store.keys, args, Date.now())
  } finally {
    await store.close()
  }
}

function explain(error: unknown): number {
  if (error instanceof UsageError || isArgumentError(error)) {
    console.error(`${error.message}\n\n${usage}`)
    return exit.misunderstood
  }
  if (error instanceof ConfigError || error instanceof NothingFound) console.error(error.message)
  else if (error instanceof StoreUnavailable) console.error(`${error.message}: ${reason(error)}`)
  else console.error(error)
  return exit.failed
}

const reason = ({ cause }: StoreUnavailable): string => (cause instanceof Error ? cause.message : String(cause))

const isArgumentError = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

process.exitCode = await run().catch(explain)
