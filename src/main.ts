#!/usr/bin/env -S node --v8-pool-size=0
/** The process: read the configuration, open, listen; on a signal drain and close. */
import './lib/v8-tuning.js'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { isatty } from 'node:tty'
import { fileURLToPath } from 'node:url'
import { getSystemErrorMap } from 'node:util'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { withoutCredentials } from './auth/credential.js'
import { failWithoutOutput, printable } from './cli/output.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { maxBacklog } from './http/server-limits.js'
import { openOps } from './ops/listener.js'
import { createLogger, type Log } from './ops/log.js'
import { Metrics } from './ops/metrics.js'
import { WorkerClient } from './platform/worker-client.js'
import { buildSandbox, sandboxAccounts } from './sandbox/sandbox.js'
import { openStore } from './store/open.js'
import { type OnDamaged, StoreUnavailable } from './store/store.js'

/** The time for a load balancer to notice that `/ready` is 503, while requests are still served. */
const drainMs = 5_000
/** Maximum time from the signal to the end of the process; requests still in flight are cut off. */
const graceMs = 25_000

/** Crashes of native code: a listener runs only after that code, so the process would repeat the crash forever. */
const crashes = ['SIGBUS', 'SIGFPE', 'SIGILL', 'SIGSEGV', 'SIGTRAP'] as const

async function openSandbox({ sandboxSeed: seed, clock }: Config) {
  const app = buildSandbox({ seed, clock })
  const [{ hash: demoHash }] = sandboxAccounts(seed)
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url: `${origin}/api`, demoHash, close: () => app.close() }
}

/** Node aborts at its exit, and then loops, when a terminal that it was started on is gone. */
function endWithoutTerminal(): void {
  const terminals = [0, 1, 2].filter(isatty)
  process.on('exit', () => {
    if (terminals.some((fd) => !isatty(fd))) process.kill(process.pid, 'SIGKILL')
  })
}

/** ioredis writes warnings to the console, for each new connection. */
function logWarnings(logger: Log): void {
  const logged = new Set<string>()
  console.warn = (text: string): void => {
    if (!logged.has(text)) logger.warn(text)
    logged.add(text)
  }
}

/** Holds a free port: the links in responses need its number before the API listens. */
async function holdPort(host: string): Promise<{ port: number; release: () => Promise<void> }> {
  const server = createServer((socket) => socket.destroy()).listen(0, host)
  await once(server, 'listening').catch(because('HOST'))
  const { port } = server.address() as AddressInfo
  return { port, release: () => new Promise((released) => server.close(() => released())) }
}

async function serve(env: NodeJS.ProcessEnv): Promise<void> {
  let config = readConfig(env)
  const held = config.port === 0 ? await holdPort(config.host) : undefined
  if (held) config = readConfig({ ...env, PORT: String(held.port) })
  const metrics = new Metrics()
  const logger = createLogger(config.logLevel, { onDropped: (bytes) => metrics.logDropped.inc(bytes) })
  logWarnings(logger)
  // After the listeners of the logger, which write what is left.
  endWithoutTerminal()
  const { clock } = config
  let draining = false
  const isDraining = (): boolean => draining
  const onDamaged: OnDamaged = (what, start) => logger.warn({ what, start }, 'damaged entry in the key store')
  const ticks = (): number => performance.now()
  const worker = new WorkerClient(new URL('./devices/worker.js', import.meta.url))
  const open = async () => {
    const store = await openStore(config, { clock, onDamaged })
    // A demo token needs the sandbox even if there is a real platform.
    const sandbox = config.demoToken === undefined ? undefined : await openSandbox(config)
    const deps = { log: logger, clock, ticks, store, sandbox, metrics, worker, isDraining }
    return { store, sandbox, app: await buildApp(config, deps) }
  }
  // The worker loads its modules meanwhile, on a core of its own where there is one.
  const [, { store, sandbox, app }] = await Promise.all([worker.start(), open()])
  await app.ready()
  await held?.release()
  const { host, port, opsHost, opsPort } = config
  const listenTextResolver = (address: string): string => `listening on ${address}/api`
  await app.listen({ host, port, backlog: maxBacklog, listenTextResolver }).catch(because('HOST and PORT'))
  // Opened last: once it is ready, so is the API.
  const openedOps = opsPort === null ? undefined : openOps({ host: opsHost, port: opsPort, metrics, isDraining })
  const ops = await openedOps?.catch(because('OPS_HOST and OPS_PORT'))
  if (ops) logger.info(`operations on ${ops.url}`)
  if (config.platformUrl === undefined) logger.info('no PLATFORM_URL: serving the sandbox fleet')
  logger.info(greeting(config, app.server.address() as AddressInfo))
  closeOnSignal(logger, async (signal) => {
    draining = true
    // No load balancer watches without a listener, or when a person presses Ctrl-C.
    if (ops && signal === 'SIGTERM') await pause(drainMs)
    await app.close()
    await Promise.all([sandbox?.close(), store.close(), ops?.close(), worker.close()])
  })
}

/** Calls `close` on a signal or after an unexpected failure, and then ends the process. */
function closeOnSignal(logger: Log, close: (signal?: NodeJS.Signals) => Promise<void>): void {
  // close-with-grace logs texts of its own and anything that was thrown.
  const error = (what: unknown): void =>
    typeof what === 'string' ? logger.error(what) : logger.error({ err: what }, 'unexpected failure while closing')
  closeWithGrace({ delay: graceMs, logger: { error }, skip: [...crashes] }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'unexpected failure, closing')
    else logger.info({ signal }, 'closing')
    await close(signal)
    logger.info('closed')
    await new Promise<void>((resolve) => logger.flush(() => resolve()))
  })
}

/** Where the reference is, and a request that works. A demo token other than `demo` is a credential and not printed. */
function greeting({ publicUrl, demoToken }: Config, { address, family, port }: AddressInfo): string {
  const isAny = address === '0.0.0.0' || address === '::'
  const local = `http://${isAny ? 'localhost' : family === 'IPv6' ? `[${address}]` : address}:${port}/api`
  const reference = `${new URL(publicUrl).hostname === 'localhost' ? local : publicUrl}/docs`
  const curl =
    demoToken === 'demo' ? `curl -H 'Authorization: Bearer demo' '${local}/v1/devices?limit=2'` : `curl ${local}/health`
  return `reference: ${reference} - try: ${curl}`
}

/** Prints the preflight check; the exit code is 1 if something will not work. */
async function printCheck(): Promise<void> {
  const { check } = await import('./cli/check/check.js')
  const { report } = await import('./cli/check/finding.js')
  const findings = await check(process.env)
  console.log(report(findings))
  // An error of the output comes later.
  await pause(0)
  process.exit(findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0)
}

const help = `gps-fleet-gateway            Starts the gateway.
gps-fleet-gateway check      Finds the problems of a deployment; changes nothing.
gps-fleet-gateway keys       Manages API keys; see gps-fleet-gateway keys --help.
gps-fleet-gateway replay     Serves recorded exchanges in place of the platform.
gps-fleet-gateway record     Records exchanges of a platform.
All but record read the environment of the gateway, replay with --gateway only. check also tries the hash in PLATFORM_HASH.`

/** The programs parse the arguments themselves. */
async function start([name, ...args]: string[]): Promise<void> {
  if (name === undefined) return serve(process.env)
  failWithoutOutput(console)
  // ioredis writes warnings to it, for developers.
  console.warn = () => {}
  // `--check` since the first release.
  if (/^(--)?check$/.test(name) && args.length === 0) return printCheck()
  if (name === 'keys') {
    const { runKeys } = await import('./cli/keys/keys.js')
    process.exitCode = await runKeys(args, { env: process.env, input: () => process.stdin, console })
    return
  }
  if (name === 'replay' || name === 'record') {
    const { runReplay } = await import('./replay/commands.js')
    const ended = () => Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
    const serveOn = (platform: string): Promise<void> => serve({ ...process.env, PLATFORM_URL: platform }).catch(fail)
    const main = fileURLToPath(import.meta.url)
    process.exitCode = await runReplay(name, args, { env: process.env, console, ended, serveOn, main })
    return
  }
  const words = [name, ...args]
  if (words.includes('--help')) return console.log(help)
  console.error(`Unknown command: ${printable(withoutCredentials(words.join(' ')))}\n\n${help}`)
  process.exit(2)
}

type ListenError = NodeJS.ErrnoException & { address?: string; hostname?: string; port?: number }

class CannotListen extends Error {}

/** Throws an error of `listen` as one sentence, with the names of the settings that caused it. */
function because(settings: string) {
  return ({ address, hostname, port, errno, code }: ListenError): never => {
    const where = [address ?? hostname, port].filter((part) => part !== undefined).join(':')
    const reason = getSystemErrorMap().get(errno ?? 0)?.[1] ?? code
    throw new CannotListen(`Cannot listen on ${where} (${settings}): ${reason}.`)
  }
}

function fail(error: unknown): never {
  // One sentence for what an operator can mend, else the whole error.
  const isKnown = [ConfigError, StoreUnavailable, CannotListen].some((Known) => error instanceof Known)
  console.error(isKnown ? (error as Error).message : error)
  // Not `exitCode`: whatever was opened before the failure would keep the process alive.
  process.exit(1)
}

await start(process.argv.slice(2)).catch(fail)
