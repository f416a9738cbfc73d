/** The process: configuration, open, listen, drain and close on signal. Knows no route. */
import { setTimeout as pause } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { check } from './cli/check/check.js'
import { report } from './cli/check/finding.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { openOps } from './ops/listener.js'
import { createLogger } from './ops/log.js'
import { Metrics } from './ops/metrics.js'
import { buildSandbox, sandboxAccounts } from './sandbox/sandbox.js'
import { openStore } from './store/open.js'
import type { OnDamaged } from './store/store.js'

/** How long a balancer that watches `/ready` has to look elsewhere, while everything is still answered. */
const drainMs = 5_000
/** Time from the signal until the process ends, whatever is still under way. */
const graceMs = 25_000
/** How often connections that have fallen idle are closed while the last requests finish. */
const sweepMs = 200

async function openSandbox({
  sandboxSeed: seed,
  clock,
}: Config): Promise<{ url: string; demoHash: string; close(): Promise<void> }> {
  const app = buildSandbox({ seed, clock: { now: clock } })
  const [demo] = sandboxAccounts(seed)
  if (!demo) throw new Error('the sandbox has no account')
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  return { url: `${origin}/api`, demoHash: demo.hash, close: () => app.close() }
}

async function run(config: Config): Promise<void> {
  const logger = createLogger(config.logLevel)
  const { clock } = config
  const metrics = new Metrics()
  let draining = false
  const isDraining = (): boolean => draining
  const onError = (err: Error): void => logger.warn({ err }, 'store')
  const onDamaged: OnDamaged = (what, start) => logger.warn({ what, start }, 'damaged entry in the key store')
  const store = await openStore({ redisUrl: config.redisUrl, dataDir: config.dataDir }, { clock, onError, onDamaged })
  // Also beside a real platform, as long as there is a demo token to answer.
  const sandbox = config.demoToken === undefined ? undefined : await openSandbox(config)
  const ticks = (): number => performance.now()
  const app = await buildApp(config, { logger, clock, ticks, store, sandbox, metrics, isDraining })
  await app.listen({
    host: config.host,
    port: config.port,
    listenTextResolver: (address) => `listening on ${address}/api`,
  })
  // Opened last: whoever finds it ready finds the API, too.
  const ops =
    config.opsPort === null
      ? undefined
      : await openOps({ host: config.host, port: config.opsPort, metrics: () => metrics.text(), isDraining })
  if (ops) logger.info(`operations on ${ops.url}`)
  if (config.platformUrl === undefined) logger.info('no PLATFORM_URL: serving the sandbox fleet')
  closeWithGrace({ delay: graceMs, logger: false }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'unexpected failure, closing')
    else logger.info({ signal }, 'closing')
    draining = true
    // Nobody watches where there is nothing to watch, or where a person pressed Ctrl-C.
    if (ops && signal === 'SIGTERM') await pause(drainMs)
    // A connection whose answer was already on its way learns nothing of the end, and would stay open for its idle time.
    const sweep = setInterval(() => app.server.closeIdleConnections(), sweepMs)
    await app.close()
    clearInterval(sweep)
    await Promise.all([sandbox?.close(), store.close(), ops?.close()])
    logger.info('closed')
    await new Promise<void>((written) => logger.flush(() => written()))
  })
}

/** Prints what is wrong with this deployment; the exit code is 1 when something will not work. */
async function tell(): Promise<void> {
  const findings = await check(process.env)
  console.log(report(findings))
  process.exit(findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0)
}

try {
  if (process.argv[2] === '--check') await tell()
  else await run(readConfig(process.env))
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  // Not `exitCode`: what was opened before the failure would keep the process alive.
  process.exit(1)
}
