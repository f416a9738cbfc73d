/** The command line of the sandbox. */
import { parseArgs } from 'node:util'
import { buildSandbox, sandboxAccounts } from './sandbox.js'

const help = `A simulated fleet behind the tracking platform's own protocol.

  --host <address>   address to listen on (127.0.0.1)
  --port <number>    port to listen on; 0 = any free port (9000)
  --devices <number> devices of the first account, 1 to 100000 (50)
  --latency <ms>     delay of every response, 0 to 60000 (0)
  --seed <number>    the same seed gives the same fleet and hashes (7)
  --help             this text`

const text = (standard: string) => ({ type: 'string', default: standard }) as const
const numbers = { port: text('9000'), devices: text('50'), latency: text('0'), seed: text('7') }

async function run(): Promise<void> {
  const { values } = parseArgs({ options: { ...numbers, host: text('127.0.0.1'), help: { type: 'boolean' } } })
  if (values.help) return console.log(help)
  const number = (name: keyof typeof numbers, min: number, max: number): number => {
    const value = /^\d+$/.test(values[name]) ? Number(values[name]) : -1
    if (value < min || value > max) throw new Error(`--${name} must be a whole number from ${min} to ${max}`)
    return value
  }
  const [seed, devices] = [number('seed', 0, 2 ** 31 - 1), number('devices', 1, 100_000)]
  const port = number('port', 0, 65_535)
  const app = buildSandbox({ seed, devices, latencyMs: number('latency', 0, 60_000) })
  const close = () => void app.close().then(() => process.exit(0))
  process.once('SIGINT', close)
  process.once('SIGTERM', close)
  console.log(`${await app.listen({ host: values.host, port })}/api`)
  for (const account of sandboxAccounts(seed, devices))
    console.log(`${account.email}  ${account.hash}  password ${account.password}  ${account.devices} devices`)
}

await run().catch((error: Error) => {
  console.error(`${error.message}\n\n${help}`)
  process.exitCode = 1
})
