/** The command line of the sandbox: options, one listener, what to connect with, close on signal. */
import { parseArgs } from 'node:util'
import { buildSandbox, sandboxAccounts } from './sandbox.js'

const HELP = `A simulated fleet that speaks the tracking platform's own protocol.

  --host <address>   where to listen (127.0.0.1)
  --port <number>    0 picks a free one (9000)
  --devices <number> vehicles of the first account, 1 to 100000 (50)
  --latency <ms>     waited before every answer, 0 to 60000 (0)
  --seed <number>    the same seed gives the same fleet and hashes (7)
  --help             this text`

const LIMITS = {
  port: [0, 65_535, 9000],
  devices: [1, 100_000, 50],
  latency: [0, 60_000, 0],
  seed: [0, 2 ** 31 - 1, 7],
} as const

type Options = { host: string; port: number; devices: number; latency: number; seed: number }

function optionsOf(args: string[]): Options | 'help' | string[] {
  const problems: string[] = []
  const names = Object.fromEntries(['host', ...Object.keys(LIMITS)].map((name) => [name, { type: 'string' as const }]))
  const { values, tokens } = parseArgs({
    args,
    options: { ...names, help: { type: 'boolean' } },
    strict: false,
    tokens: true,
  })
  if (values.help) return 'help'
  for (const token of tokens) {
    if (token.kind === 'positional') problems.push(`${token.value}: not an option`)
    if (token.kind === 'option' && !(token.name in names)) problems.push(`${token.rawName}: no such option`)
  }
  const number = (name: keyof typeof LIMITS): number => {
    const [low, high, standard] = LIMITS[name]
    const text = values[name]
    if (text === undefined) return standard
    if (typeof text === 'string' && /^\d+$/.test(text) && Number(text) >= low && Number(text) <= high)
      return Number(text)
    problems.push(`--${name}: must be a whole number from ${low} to ${high}`)
    return standard
  }
  const options = { port: number('port'), devices: number('devices'), latency: number('latency'), seed: number('seed') }
  if (values.host === true || values.host === '') problems.push('--host: must be an address')
  return problems.length > 0 ? problems : { host: String(values.host ?? '127.0.0.1'), ...options }
}

async function run({ host, port, devices, latency, seed }: Options): Promise<void> {
  const app = buildSandbox({ seed, devices, latencyMs: latency })
  const close = () => void app.close().then(() => process.exit(0))
  process.once('SIGINT', close)
  process.once('SIGTERM', close)
  console.log(`${await app.listen({ host, port })}/api`)
  for (const account of sandboxAccounts(seed, devices))
    console.log(`${account.email}  ${account.hash}  ${account.devices} devices`)
}

const options = optionsOf(process.argv.slice(2))
if (options === 'help') console.log(HELP)
else if (Array.isArray(options)) {
  console.error(`${options.join('\n')}\n\n${HELP}`)
  process.exitCode = 1
} else {
  await run(options).catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
}
