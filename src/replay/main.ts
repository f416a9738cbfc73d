/** The command line of replay, diff and record. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { compare, documentedPaths, send } from './diff.js'
import { readFolder } from './exchange.js'
import { Pseudonyms } from './pseudonym.js'
import { buildRecorder, check } from './record.js'
import { buildReplay, hashOf } from './replay.js'
import { buildScrub } from './scrub.js'

const usage = `node dist/replay/main.js [<folder>...] [--port 9000] [--hash <hash>] [--strict] [--gateway]
node dist/replay/main.js --diff <folder> <base-url> <base-url> [--credential <credential>]
node dist/replay/main.js record --platform <base-url> --as <account> [--port 9001] [--update]
node dist/replay/main.js record --platform <base-url> --as <account> --check`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    port: { type: 'string' },
    hash: { type: 'string' },
    strict: { type: 'boolean', default: false },
    gateway: { type: 'boolean', default: false },
    diff: { type: 'boolean', default: false },
    credential: { type: 'string' },
    platform: { type: 'string' },
    as: { type: 'string' },
    update: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
})

/** Resolves with the first signal that ends the process. */
const signalled = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal))
  })

/** The gateway's exit code; the first signal is passed on to it. */
function exitOf(gateway: ChildProcess): Promise<number> {
  void signalled().then((signal) => gateway.kill(signal))
  return new Promise((resolve) => gateway.once('exit', (code) => resolve(code ?? 1)))
}

async function replay(paths: string[]): Promise<number> {
  if (values.hash !== undefined && paths.length > 1) throw new Error('--hash goes with one folder only')
  const folders = await Promise.all(paths.map(readFolder))
  let misses = 0
  const onMiss = (miss: object) => {
    misses++
    console.error(`no recorded response: ${JSON.stringify(miss)}`)
  }
  const app = buildReplay(folders, { hash: values.hash, onMiss })
  await app.listen({ host: '127.0.0.1', port: Number(values.port ?? 9000) })
  const platformUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}/api`
  console.log(`replay listens on ${platformUrl}`)
  for (const { name, manifest } of folders) {
    console.log(`  ${name}: ${manifest.about} ${values.hash === undefined ? `Hash: ${hashOf(name)}` : ''}`)
  }
  let code = 0
  if (values.gateway) {
    const main = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url))
    const env = { ...process.env, PLATFORM_URL: platformUrl }
    // In a process group of its own, so that Ctrl-C reaches it once: through us.
    code = await exitOf(fork(main, [], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true }))
  } else {
    await signalled()
  }
  await app.close()
  return values.strict && misses > 0 ? code || 1 : code
}

async function diff([path, ...bases]: string[]): Promise<number> {
  const [left, right] = bases
  if (path === undefined || left === undefined || right === undefined) throw new Error(usage)
  const folder = await readFolder(path)
  const credential = values.credential ?? process.env.GATEWAY_CREDENTIAL ?? hashOf(folder.name)
  let differing = 0
  const requests = await documentedPaths(folder, left, credential)
  for (const request of requests) {
    const [one, two] = await Promise.all([send(left, request, credential), send(right, request, credential)])
    const differences = compare(one, two)
    if (differences.length > 0) differing++
    for (const { path: at, left: a, right: b } of differences) {
      console.log(`${request}  ${at}: ${JSON.stringify(a)} | ${JSON.stringify(b)}`)
    }
  }
  console.log(`${requests.length} requests, ${differing} with different responses`)
  return differing > 0 ? 1 : 0
}

async function record(): Promise<number> {
  const { platform, as: account } = values
  if (platform === undefined || account === undefined || account !== basename(account)) throw new Error(usage)
  const folder = join('fixtures', account)
  const log = (line: string) => console.log(line)
  if (values.check) {
    const hash = process.env.PLATFORM_HASH
    if (hash === undefined) throw new Error('--check needs the hash in PLATFORM_HASH, which is not set')
    return (await check(platform, await readFolder(folder), hash, log)) ? 0 : 1
  }
  const scrub = buildScrub(new Pseudonyms(process.env.RECORD_SECRET ?? randomBytes(32).toString('hex')))
  const recorder = buildRecorder({ platform, folder, update: values.update, scrub, log })
  await recorder.app.listen({ host: '127.0.0.1', port: Number(values.port ?? 9001) })
  console.log(`recording ${account} on http://127.0.0.1:${(recorder.app.server.address() as AddressInfo).port}/api`)
  await signalled()
  await recorder.app.close()
  return recorder.rejected() > 0 ? 1 : 0
}

async function run(): Promise<number> {
  if (values.diff) return diff(positionals)
  if (positionals[0] === 'record') return record()
  return replay(positionals.length > 0 ? positionals : [join('fixtures', 'acme')])
}

process.exitCode = await run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  return 2
})
