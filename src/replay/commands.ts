/** The commands replay, diff and record. */
import { randomBytes } from 'node:crypto'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { DateTime } from 'luxon'
import { check } from './check.js'
import { compare, documentedPaths, send } from './diff.js'
import { fileNameOf, type PlatformRequest } from './exchange.js'
import { findLeaks } from './find-leaks.js'
import { formatFolder, manifestFile, readFolder, readOwnManifest } from './folder.js'
import { Pseudonyms } from './pseudonym.js'
import { buildRecorder, recordOne } from './record.js'
import { buildReplay, hashOf } from './replay.js'
import { buildScrub } from './scrub.js'

const replayHelp = `Serves recorded exchanges instead of the platform.

  gps-fleet-gateway replay [<folder>...]        folders of exchanges (fixtures/acme)
    --port <number>        port to listen on; 0 = any free port (9000)
    --hash <hash>          the only hash to accept, with one folder (any)
    --gateway              also start a gateway on it
    --strict               when stopped, exit with 1 if a request had no recorded response
    --format               only rewrite files in their canonical layout and under their canonical name

Compares two gateways: exits with 1 when a documented request has different responses.

  gps-fleet-gateway replay --diff <folder> <base-url> <base-url>
    --credential <text>    credential for both (GATEWAY_CREDENTIAL, or the folder's invented hash)`

const recordHelp = `Records exchanges of a real platform, with identifying data removed. Without --update or --only nothing is written.

  gps-fleet-gateway record --platform <base-url> --as <account>
    --port <number>        port of the recording proxy; 0 = any free port (9001)
    --update               write to fixtures/<account>
    --only <action>        record one request with the hash in PLATFORM_HASH, write it and exit
    --device <id>          with --only: the device
    --day <YYYY-MM-DD>     with --only: the day, for get_history and get_events
    --check                repeat the recorded requests with the hash in PLATFORM_HASH; exits with 1 when the shape
                           of a response has changed

  RECORD_SECRET            the secret of the invented values (new each time); a folder takes no values of another one,
                           and --check needs it for the real ids`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const shared = { help: flag, port: text }
const replayOptions = { ...shared, hash: text, strict: flag, gateway: flag, format: flag, diff: flag, credential: text }
const recordOptions = {
  ...shared,
  platform: text,
  as: text,
  update: flag,
  only: text,
  device: text,
  day: text,
  check: flag,
}
type ReplayValues = ReturnType<typeof parseArgs<{ options: typeof replayOptions }>>['values']
type RecordValues = ReturnType<typeof parseArgs<{ options: typeof recordOptions }>>['values']

/** What a command needs of its process. */
export interface Io {
  env: NodeJS.ProcessEnv
  console: Pick<Console, 'log' | 'error'>
  /** Resolves with a signal to end. */
  ended: () => Promise<unknown>
  /** Starts a gateway on a platform in this process, which then ends as that of a gateway does. */
  serveOn: (platformUrl: string) => Promise<void>
  /** The program's own file. */
  main: string
}

async function listen(app: ReturnType<typeof buildReplay>, port: string): Promise<string> {
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new Error('--port must be a whole number from 0 to 65535')
  const origin = await app.listen({ host: '127.0.0.1', port: Number(port) }).catch(({ message }: Error) => {
    throw new Error(`${message}; choose another --port`)
  })
  return `${origin}/api`
}

async function formatAll(paths: string[], { console }: Io): Promise<number> {
  for (const path of paths) {
    const names = await formatFolder(path)
    for (const name of names) console.log(`wrote ${join(path, name)}`)
    console.log(`${path}: ${names.length} files changed`)
    const { manifest, exchanges } = await readFolder(path)
    const files = exchanges.map((exchange) => ({ file: fileNameOf(exchange), content: exchange as object }))
    for (const { file, content } of [{ file: manifestFile, content: manifest }, ...files])
      for (const leak of findLeaks(content)) console.error(`warning: ${join(path, file)}: ${leak}`)
  }
  return 0
}

async function replay(paths: string[], values: ReplayValues, io: Io): Promise<number> {
  const { console } = io
  if (values.hash !== undefined && paths.length > 1) throw new Error('--hash needs exactly one folder')
  const folders = await Promise.all(paths.map((path) => readFolder(path)))
  const names = folders.map(({ name }) => name)
  if (new Set(names).size < names.length)
    throw new Error('two folders with the same name would have the same hash: rename one')
  let misses = 0
  const report = (what: string) => {
    misses++
    console.error(`no recorded response: ${what}`)
  }
  const exitCode = (): number => (values.strict && misses > 0 ? 1 : 0)
  const app = buildReplay(folders, {
    hash: values.hash,
    onMiss: (miss) => report(JSON.stringify(miss)),
    onStray: (path, fault) => report(`GET ${path} ${fault}`),
  })
  const platformUrl = await listen(app, values.port ?? '9000')
  console.log(`replay listens on ${platformUrl}`)
  for (const { name, manifest } of folders) {
    console.log(`  ${name}: ${manifest.about} ${values.hash === undefined ? `Hash: ${hashOf(name)}` : ''}`)
  }
  if (values.gateway) {
    process.on('exit', (code) => {
      process.exitCode = code || exitCode()
    })
    await io.serveOn(platformUrl)
    return 0
  }
  await io.ended()
  await app.close()
  return exitCode()
}

async function diff([path, left, right]: string[], values: ReplayValues, { env, console }: Io): Promise<number> {
  if (path === undefined || left === undefined || right === undefined)
    throw new Error('--diff needs a folder and the base URLs of two gateways')
  const folder = await readFolder(path)
  const credential = values.credential ?? (env.GATEWAY_CREDENTIAL || hashOf(folder.name))
  for (const base of [left, right]) {
    const { status } = await send(base, '/v1/me', credential)
    if (status === 401) throw new Error(`${base} rejects the credential; give one with --credential`)
    // Two gateways that fail alike would have no differences.
    if (status !== 200)
      throw new Error(`${base}/v1/me has status ${status}: is it the base URL of a gateway, with /api?`)
  }
  let [differing, unavailable] = [0, 0]
  const requests = await documentedPaths(folder, left, credential, console.log)
  for (const request of requests) {
    const [one, two] = await Promise.all([send(left, request, credential), send(right, request, credential)])
    const differences = compare(one, two)
    if (differences.length > 0) differing++
    else if (one.status === 503) unavailable++
    for (const { path: at, left: a, right: b } of differences) {
      console.log(`${request}  ${at}: ${JSON.stringify(a)} | ${JSON.stringify(b)}`)
    }
  }
  const equal = unavailable > 0 ? `, ${unavailable} with the same 503: perhaps they are not recorded` : ''
  console.log(`${requests.length} requests, ${differing} with different responses${equal}`)
  return differing > 0 ? 1 : 0
}

async function record(values: RecordValues, { env, console, ended, main }: Io): Promise<number> {
  const { log } = console
  const { platform, as: account, only, update = false } = values
  if (platform === undefined || !URL.canParse(platform) || !/^https?:[^?#@]+$/i.test(platform))
    throw new Error(
      "--platform must be the platform's base URL, such as https://tracker.example.com/api, without user, query and fragment",
    )
  if (account === undefined || !/^[\p{L}\p{N}_@+-][\p{L}\p{N}_@+.-]*$/u.test(account))
    throw new Error('--as must be the name of a folder, of letters, digits and _ @ + . -')
  const folder = join('fixtures', account)
  const hash = env.PLATFORM_HASH?.trim() ?? ''
  if (values.check && (update || (only ?? values.device ?? values.day) !== undefined))
    throw new Error('--check goes without --update, --only, --device and --day')
  if ((values.check || only) && hash === '') throw new Error('--check and --only need a hash in PLATFORM_HASH')
  const secret = env.RECORD_SECRET || undefined
  const pseudonyms = new Pseudonyms(secret ?? randomBytes(32).toString('hex'))
  if (values.check) {
    const known = secret === undefined ? undefined : pseudonyms
    return (await check(platform, await readFolder(folder), hash, log, known)) ? 0 : 1
  }
  if (update || only !== undefined) await readOwnManifest(folder, pseudonyms.fingerprint)
  const recorder = { platform, folder, scrub: buildScrub(pseudonyms), fingerprint: pseudonyms.fingerprint, log }
  if (only === undefined && (values.device ?? values.day) !== undefined)
    throw new Error('--device and --day go with --only')
  if (only !== undefined) {
    const exchange = await recordOne(requestOf(only, values), hash, { ...recorder, update: true })
    if (exchange === undefined) return 1
    const search = new URLSearchParams({ ...exchange.query, user_api_hash: 'any' })
    console.log(`replay it with: node ${relative('', main)} replay ${folder} --port 9000`)
    console.log(`then send it with: curl 'http://127.0.0.1:9000/api/${exchange.action}?${search}'`)
    return 0
  }
  const { app, counts } = buildRecorder({ ...recorder, update })
  console.log(`recording ${account} on ${await listen(app, values.port ?? '9001')}`)
  await ended()
  await app.close()
  console.log(update ? `stored ${counts.stored} exchanges in ${folder}` : 'nothing was written; --update writes')
  if (counts.rejected > 0) console.log(`${counts.rejected} exchanges were not written, for the reasons above`)
  return counts.rejected > 0 ? 1 : 0
}

/** The request of `--only`, with the parameters that the gateway sends. */
function requestOf(action: string, { device, day }: RecordValues): PlatformRequest {
  if (device !== undefined && !/^\d+$/.test(device)) throw new Error('--device must be the id of a device')
  if (day !== undefined && !isDay(day)) throw new Error('--day must be a day such as 2026-11-20')
  if (action === 'get_history' && (device === undefined || day === undefined))
    throw new Error('--only get_history needs --device and --day')
  if (action === 'services' && device !== undefined) return { action: `services/${device}`, query: {} }
  if (day !== undefined && !/^get_(history|events)$/.test(action))
    throw new Error('--day goes with get_history and get_events only')
  const days = day !== undefined && { date_from: `${day} 00:00:00`, date_to: `${day} 23:59:59` }
  const fixed: Record<string, Record<string, string>> = {
    get_services: { page: '1' },
    get_user_drivers: { page: '1' },
    get_events: { limit: '50', page: '1', ...days },
    get_history: { from_date: `${day}`, from_time: '00:00:00', to_date: `${day}`, to_time: '23:59:59' },
    services: { limit: '100', page: '1' },
  }
  const id = action === 'get_devices' ? 'id' : 'device_id'
  return { action, query: { ...fixed[action], ...(device !== undefined && { [id]: device }) } }
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text) && DateTime.fromISO(text).isValid

/** Runs a command. @returns its exit code. */
export async function runReplay(command: 'replay' | 'record', args: string[], io: Io): Promise<number> {
  try {
    if (command === 'record') {
      const { values } = parseArgs({ args, options: recordOptions })
      if (!values.help) return await record(values, io)
      io.console.log(recordHelp)
      return 0
    }
    const { values, positionals } = parseArgs({ args, options: replayOptions, allowPositionals: true })
    if (values.help) {
      io.console.log(replayHelp)
      return 0
    }
    if (values.diff) return await diff(positionals, values, io)
    const paths = positionals.length > 0 ? positionals : [join('fixtures', 'acme')]
    return await (values.format ? formatAll(paths, io) : replay(paths, values, io))
  } catch (error) {
    io.console.error(error instanceof Error ? error.message : error)
    return 2
  }
}
