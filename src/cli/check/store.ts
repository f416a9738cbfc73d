/** Checks that API keys are safe where they are stored: Redis and its settings, or the folder of the key file. */
import { lstat, mkdtemp, open, rmdir, stat } from 'node:fs/promises'
import { isIP } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.js'
import { isFull, keyFileIn, lockOf, verifyKeyFile } from '../../store/key-file.js'
import { ownership } from '../../store/open.js'
import { inspectServers, type ServerInfo } from '../../store/redis.js'
import { replyMs } from '../../store/redis-connection.js'
import { type Finding, fail, ok, warn } from './finding.js'

export function storeFindings({ redisUrl, dataDir }: Config): Promise<Finding[]> {
  if (redisUrl !== undefined) return redis(redisUrl)
  return keyFolder(resolve(dataDir)).catch(({ message }: Error) => [fail('DATA_DIR', message)])
}

async function redis(urls: string): Promise<Finding[]> {
  try {
    const { servers, refused, ms } = await inspectServers(urls)
    const versions = [...new Set(servers.map(({ info }) => info.redis_version ?? 'unknown'))].join(', ')
    const text = `version ${versions}, ${servers.length} server(s), responded in ${ms} ms`
    const found = ms > replyMs ? fail('Redis', `${text}: the gateway waits for ${replyMs} ms`) : ok('Redis', text)
    // A cluster redirects a client that has the address of one server.
    const isCluster = servers.some(({ info }) => info.cluster_enabled === '1')
    if (isCluster && !urls.includes(','))
      return [fail('Redis', 'is a node of a cluster: name several of its nodes in REDIS_URL, comma-separated')]
    return [
      found,
      commands(refused),
      encryption(urls),
      ...[role, eviction, persistence].map((inspect) => worst(servers.map(inspect))),
    ]
  } catch (error) {
    const { name, message } = error as Error
    const hint = unknownIssuer.test(message) ? ': set NODE_EXTRA_CA_CERTS to the file of its authority' : ''
    // The text of our own connection's error holds at most an address.
    return [fail('Redis', `cannot be used: ${name === 'AbortError' ? late(urls) : message + hint}`)]
  }
}

/** What OpenSSL says of a certificate without a known issuer. */
const unknownIssuer = /^(self-signed|unable to (get|verify))/

/** Why a connection was not ready in time. */
function late(urls: string): string {
  const slots = urls.includes(',') ? ', or not all slots of the cluster are served' : ''
  return `no reply in time, or it is still loading its data${slots}${urls.includes('rediss:') ? ', or the server expects no TLS' : ''}`
}

/** The most severe of one finding per server. */
function worst(findings: Finding[]): Finding {
  const severity = ({ verdict }: Finding): number => ['ok', 'warn', 'fail'].indexOf(verdict)
  return findings.reduce((worst, finding) => (severity(finding) > severity(worst) ? finding : worst))
}

function commands(refused: ReadonlyMap<string, readonly string[]>): Finding {
  if (refused.size === 0) return ok('Redis commands', 'each command of the gateway was tried')
  const reasons = [...refused].map(([reason, commands]) => `${reason} ${commands.join(', ')}`)
  return fail('Redis commands', reasons.join('; '))
}

function role({ info }: ServerInfo): Finding {
  if (info.role === undefined) return warn('Redis role', 'unknown: the ACL denies INFO')
  if (info.role === 'master') return ok('Redis role', 'master')
  return fail('Redis role', 'a replica rejects writes: no API key can be used, created or revoked')
}

function eviction({ info }: ServerInfo): Finding {
  const policy = info.maxmemory_policy
  if (policy === 'noeviction') return ok('Redis eviction', policy)
  if (policy === undefined) return warn('Redis eviction', 'unknown; maxmemory-policy must be noeviction')
  return fail('Redis eviction', `maxmemory-policy is ${policy}: API keys would silently disappear; set noeviction`)
}

function persistence({ info, save }: ServerInfo): Finding {
  if (info.aof_enabled === '1') return ok('Redis persistence', 'append-only file')
  if (info.aof_enabled === undefined || save === undefined)
    return warn('Redis persistence', 'unknown; without it a restart loses every API key')
  if (save === '') return fail('Redis persistence', 'none: a restart loses every API key; set appendonly yes')
  return warn('Redis persistence', 'snapshots only: a crash loses the API keys of the last minutes')
}

/** Names without a dot, and domains of providers' private networks. */
const privateName = /^([^.:]+|.*\.(internal|flycast|local))$/
/** RFC 1918, RFC 4193 and RFC 4291 2.5. */
const privateAddress =
  /^((10|127|192\.168|172\.(1[6-9]|2\d|3[01]))\..*|\[(::1|f[cd][0-9a-f]{2}:.*|fe[89ab][0-9a-f]:.*)\])$/

const isPrivate = (host: string): boolean =>
  isIP(host.replace(/[[\]]/g, '')) === 0 ? privateName.test(host) : privateAddress.test(host)

export function encryption(urls: string): Finding {
  const isOpen = urls.split(',').some((url) => {
    const { protocol, hostname } = new URL(url.trim())
    return protocol === 'redis:' && !isPrivate(hostname)
  })
  if (isOpen) return warn('Redis TLS', 'redis:// across a network: use rediss://')
  return ok('Redis TLS', 'encrypted, or within a private network')
}

/** Room for some 60,000 keys. */
const scarceBytes = 64 * 1024 * 1024
const full = fail('disk', 'full: API keys can be neither created nor revoked')

async function keyFolder(path: string): Promise<Finding[]> {
  const folder = await stat(path).catch(() => undefined)
  if (!folder) return [await missingFolder(path)]
  if (!folder.isDirectory()) return [fail('DATA_DIR', `${path} is not a folder`)]
  const isDiskFull = isFull(path)
  const problem = isDiskFull ? undefined : await writeProblem(path)
  if (problem) return [fail('DATA_DIR', `${path} is not writable; ${problem}`)]
  const found = await files(path, folder.mode)
  if (isDiskFull) return [found, full]
  if (!isFull(path, scarceBytes)) return [found]
  return [found, warn('disk', 'less than 64 MB free: soon no API key can be created')]
}

/** Why nothing can be written; undefined if something can. Tried, because `access` lets root write to `/proc`. */
const writeProblem = (path: string): Promise<string | undefined> =>
  mkdtemp(join(path, '.check-'))
    .then(rmdir)
    .then(() => undefined)
    .catch(({ code, message }: NodeJS.ErrnoException) =>
      ['EROFS', 'ENOSPC', 'EDQUOT', 'EIO'].includes(code ?? '') ? message : ownership(),
    )

/** The gateway creates missing parents, too. */
async function missingFolder(path: string, parent = dirname(path)): Promise<Finding> {
  if (await lstat(path).catch(() => undefined)) return fail('DATA_DIR', `${path} is a link that leads nowhere`)
  if (!(await stat(parent).catch(() => undefined))) return missingFolder(path, dirname(parent))
  if (isFull(parent)) return full
  if (!(await writeProblem(parent))) return warn('DATA_DIR', `${path} does not exist yet: is the volume mounted?`)
  return fail('DATA_DIR', `${path} does not exist and cannot be created`)
}

/** Checks the permissions of the folder, and its key file. Creates nothing. */
async function files(path: string, mode: number): Promise<Finding> {
  const octal = (bits: number): string => `0${(bits & 0o777).toString(8)}`
  const isOpen = (bits: number): boolean => (bits & 0o077) !== 0
  if (isOpen(mode))
    return fail('DATA_DIR', `${path} is open to other users (${octal(mode)}); set 0700, or name a folder in it`)
  const file = keyFileIn(path)
  const { mode: fileMode } = await stat(file).catch(() => ({ mode: 0 }))
  if (isOpen(fileMode)) return fail('DATA_DIR', `keys.mdb is open to other users (${octal(fileMode)}); set 0600`)
  try {
    // Reading a file without its lock would create one.
    for (const name of [file, lockOf(file)]) await (await open(name, 'r+')).close()
    await verifyKeyFile(file)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT') return fail('DATA_DIR', message)
    if (fileMode !== 0) return warn('DATA_DIR', 'keys.mdb has no lock file: it was never opened here, and not checked')
  }
  return ok('DATA_DIR', `${path}, writable, for this user only`)
}
