/** The process: read the configuration, open, listen; on a signal drain and close. */
import { setTimeout as pause } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import { buildApp } from './app.js'
import { check } from './cli/check/check.js'
import { report } from './cli/check/finding.js'
import { type Config, ConfigError, readConfig } from './config.js'
import { openOps } from './ops/listener.js'
import { createLogger } from './ops/log.js'
import { Metrics } from './ops/metrics.js'
import { WorkerClient } from './platform/worker-client.js'
import { buildSandbox, sandboxAccounts } from './sandbox/sandbox.js'
import { openStore } from './store/open.js'
import type { OnDamaged } from './store/store.js'

/** Milliseconds for a load balancer to notice that `/ready` is 503, while requests are still served. */
const drainMs = 5_000
/** Milliseconds from the signal until the process ends, whatever is still in flight. */
const graceMs = 25_000
/** How often idle connections are closed while the last requests finish. */
const closeIdleMs = 200

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
  const metrics = new Metrics()
  const logger = createLogger(config.logLevel, { onDropped: metrics.countLogDropped })
  const { clock } = config
  let draining = false
  const isDraining = (): boolean => draining
  const onError = (err: Error): void => logger.warn({ err }, 'store')
  const onDamaged: OnDamaged = (what, start) => logger.warn({ what, start }, 'damaged entry in the key store')
  const store = await openStore({ redisUrl: config.redisUrl, dataDir: config.dataDir }, { clock, onError, onDamaged })
  // With a demo token also beside a real platform.
  const sandbox = config.demoToken === undefined ? undefined : await openSandbox(config)
  const ticks = (): number => performance.now()
  const worker = new WorkerClient(new URL('./devices/worker.js', import.meta.url))
  await worker.start()
  const app = await buildApp(config, { logger, clock, ticks, store, sandbox, metrics, worker, isDraining })
  await app.listen({
    host: config.host,
    port: config.port,
    listenTextResolver: (address) => `listening on ${address}/api`,
  })
  // Opened last: once it is ready, so is the API.
  const ops =
    config.opsPort === null
      ? undefined
      : await openOps({ host: config.opsHost, port: config.opsPort, metrics: () => metrics.text(), isDraining })
  if (ops) logger.info(`operations on ${ops.url}`)
  if (config.platformUrl === undefined) logger.info('no PLATFORM_URL: serving the sandbox fleet')
  closeWithGrace({ delay: graceMs, logger: false }, async ({ err, signal }) => {
    if (err) logger.fatal({ err }, 'unexpected failure, closing')
    else logger.info({ signal }, 'closing')
    draining = true
    // No load balancer watches without a listener, or when a person presses Ctrl-C.
    if (ops && signal === 'SIGTERM') await pause(drainMs)
    // A connection whose last response was sent before the signal would stay open for its idle time.
    const closing = setInterval(() => app.server.closeIdleConnections(), closeIdleMs)
    await app.close()
    clearInterval(closing)
    await Promise.all([sandbox?.close(), store.close(), ops?.close(), worker.close()])
    logger.info('closed')
    await new Promise<void>((resolve) => logger.flush(() => resolve()))
  })
}

/** Prints the preflight check; the exit code is 1 if something will not work. */
async function printCheck(): Promise<void> {
  const findings = await check(process.env)
  console.log(report(findings))
  process.exit(findings.some(({ verdict }) => verdict === 'fail') ? 1 : 0)
}

try {
  if (process.argv[2] === '--check') await printCheck()
  else await run(readConfig(process.env))
} catch (error) {
  console.error(error instanceof ConfigError ? error.message : error)
  // Not `exitCode`: whatever was opened before the failure would keep the process alive.
  process.exit(1)
}
