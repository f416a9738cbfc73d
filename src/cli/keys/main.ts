/** The command line for API keys; works on the gateway's store, also while gateways run. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { ConfigError, readConfig } from '../../config.js'
import { openStore } from '../../store/open.js'
import { type OnDamaged, StoreUnavailable } from '../../store/store.js'
import { commands, NotFound, UsageError } from './commands.js'

const program = 'gps-fleet-gateway keys'
const usages = Object.values(commands).map(
  ({ usage, help, example }) => `  ${usage}\n      ${help}\n      Example: ${program} ${example}`,
)
const usage = `${program} <command> [--json]

${usages.join('\n')}

It reads the environment of the gateway: REDIS_URL, or else DATA_DIR.
Exit codes: 0 done, 1 no such key or no store, 2 usage error.`

/** Scripts rely on them. */
const exitCodes = { done: 0, failed: 1, usage: 2 }

const onDamaged: OnDamaged = (what, start) => console.error(`Skipped a damaged entry: ${what} ${start}…`)

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
      yes: { type: 'boolean', default: false },
    },
  })
  if (values.help) {
    console.log(usage)
    return exitCodes.done
  }
  const [name = '', ...args] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(name === '' ? 'no command' : `no command ${name}`)
  const { redisUrl, dataDir: folder } = readConfig(process.env)
  const dataDir = resolve(folder)
  // Opening would create an empty store, and everything would seem to be in order.
  if (redisUrl === undefined && !existsSync(dataDir)) {
    throw new NotFound(`There is no folder ${dataDir}. Is DATA_DIR, or REDIS_URL, set as it is for the gateway?`)
  }
  const store = await openStore({ redisUrl, dataDir }, { clock: Date.now, onError: () => {}, onDamaged })
  try {
    const call = { store, args, now: Date.now(), isConfirmed: values.yes, input: () => text(process.stdin) }
    const outcome = await command.run(call)
    console.log(values.json ? JSON.stringify(outcome.json) : outcome.text)
    return exitCodes.done
  } finally {
    await store.close()
  }
}

function explain(error: unknown): number {
  if (error instanceof UsageError || isArgumentError(error)) {
    console.error(`${error.message}\n\n${usage}`)
    return exitCodes.usage
  }
  if (error instanceof ConfigError || error instanceof NotFound) console.error(error.message)
  else if (error instanceof StoreUnavailable) console.error(`${error.message}${reasonOf(error)}`)
  else console.error(error)
  return exitCodes.failed
}

const reasonOf = ({ cause }: StoreUnavailable): string => (cause instanceof Error ? `: ${cause.message}` : '')

const isArgumentError = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')

process.exitCode = await run().catch(explain)
