/** The command line for API keys; works on the gateway's store, also while gateways run. */
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { withoutCredentials } from '../../auth/credential.js'
import { ConfigError, readConfig } from '../../config.js'
import { keyFileIn } from '../../store/key-file.js'
import { openStore } from '../../store/open.js'
import { type OnDamaged, StoreUnavailable } from '../../store/store.js'
import { type Call, commands, NotFound, UsageError } from './commands.js'

/** What a command needs of its process. */
interface Io {
  env: NodeJS.ProcessEnv
  input: Call['input']
  console: Pick<Console, 'log' | 'error'>
}

const program = 'gps-fleet-gateway keys'
const names = Object.keys(commands).join(', ')
const usages = Object.values(commands).map(
  ({ usage, help, example }) => `  ${usage}\n      ${help}\n      Example: ${program} ${example}`,
)
const usage = `${program} <command> [--json]

${usages.join('\n')}

It reads the environment of the gateway: REDIS_URL, or else DATA_DIR.
Exit codes: 0 done, 1 no such key, no store or the output cannot be written, 2 usage error.`

const flag = { type: 'boolean', default: false } as const
const options = { json: flag, help: flag, yes: flag }

/** @returns the exit code, on which scripts rely. */
export async function runKeys(args: string[], io: Io): Promise<number> {
  try {
    io.console.log(await run(args, io))
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || isArgumentError(error)
    // The message may repeat an argument, and a key that is not in this store may work with another one.
    io.console.error(withoutCredentials(isUsage ? `${error.message}\nSee ${program} --help.` : explain(error)))
    return isUsage ? 2 : 1
  }
}

async function run(words: string[], { env, input, console }: Io): Promise<string> {
  const { values, positionals } = parseArgs({ args: words, allowPositionals: true, options })
  if (values.help) return usage
  const [name = '', ...args] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) throw new UsageError(name === '' ? `Name a command: ${names}.` : `Unknown command: ${name}`)
  const { redisUrl, dataDir: folder, clock } = readConfig(env)
  const dataDir = resolve(folder)
  // Opening would create an empty store, and everything would seem to be in order.
  if (redisUrl === undefined && !existsSync(keyFileIn(dataDir))) {
    throw new NotFound(
      `There is no key file in ${dataDir}. Is DATA_DIR, or REDIS_URL, set as for the gateway, and is this its user?`,
    )
  }
  const onDamaged: OnDamaged = (what, start) => console.error(`Skipped a damaged entry: ${what} ${start}…`)
  const store = await openStore({ redisUrl, dataDir }, { clock, onDamaged })
  try {
    const { json, text } = await command.run({ store, args, now: clock(), isConfirmed: values.yes, input })
    return values.json ? JSON.stringify(json) : text
  } finally {
    await store.close()
  }
}

function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof NotFound) return error.message
  if (!(error instanceof StoreUnavailable)) return inspect(error)
  const { message, cause } = error
  return cause instanceof Error && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}

const isArgumentError = (error: unknown): error is Error =>
  error instanceof TypeError && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
