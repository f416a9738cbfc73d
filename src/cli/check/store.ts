/** Whether API keys are safe where they live: Redis and its settings, or the folder of the embedded store. */
import { constants } from 'node:fs'
import { access, stat, statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { Config } from '../../config.js'
import { inquire, type RedisAccount } from '../../store/redis.js'
import { type Finding, fail, ok, warn } from './finding.js'

export function storeFindings({ redisUrl, dataDir }: Config): Promise<Finding[]> {
  return redisUrl === undefined ? folder(resolve(dataDir)) : redis(redisUrl)
}

async function redis(urls: string): Promise<Finding[]> {
  const tls = encryption(urls)
  try {
    const started = performance.now()
    const accounts = await inquire(urls)
    const ms = Math.round(performance.now() - started)
    const versions = [...new Set(accounts.map(({ info }) => fieldOf(info, 'redis_version') ?? 'unknown'))].join(', ')
    return [ok('Redis', `version ${versions}, ${accounts.length} server(s), answered in ${ms} ms`), tls].concat(
      worst(accounts.map(role)),
      worst(accounts.map(eviction)),
      worst(accounts.map(persistence)),
    )
  } catch (error) {
    // Our own connection's error: its text holds an address at most.
    return [fail('Redis', `cannot be reached: ${error instanceof Error ? error.message : 'unknown'}`), tls]
  }
}

const fieldOf = (info: string, name: string): string | undefined =>
  info
    .split(/\r?\n/)
    .find((line) => line.startsWith(`${name}:`))
    ?.slice(name.length + 1)

/** Of one question put to many servers the answer to worry about. */
function worst(findings: Finding[]): Finding[] {
  const order = ['fail', 'warn', 'ok'] as const
  const found = order.map((verdict) => findings.find((one) => one.verdict === verdict)).find(Boolean)
  return found ? [found] : []
}

function role({ info }: RedisAccount): Finding {
  if (fieldOf(info, 'role') === 'master') return ok('Redis role', 'takes writes')
  return fail('Redis role', 'a replica: it takes no writes, so no API key can be made or revoked')
}

function eviction({ info }: RedisAccount): Finding {
  const policy = fieldOf(info, 'maxmemory_policy')
  if (policy === 'noeviction') return ok('Redis eviction', policy)
  if (policy === undefined) return warn('Redis eviction', 'not told; maxmemory-policy must be noeviction')
  return fail('Redis eviction', `maxmemory-policy is ${policy}: API keys would silently disappear; set noeviction`)
}

function persistence({ info, save }: RedisAccount): Finding {
  if (fieldOf(info, 'aof_enabled') === '1') return ok('Redis persistence', 'append-only file')
  if (save === undefined) return warn('Redis persistence', 'not told; without it a restart loses every API key')
  if (save === '') return fail('Redis persistence', 'none: a restart loses every API key; set appendonly yes')
  return warn('Redis persistence', 'snapshots only: a crash loses the API keys of the last minutes')
}

/** Names without a dot and private ranges are networks of the operator's own. */
const privateHost = /^(localhost|[^.:]+|.*\.(internal|flycast|local)|127\..*|10\..*|192\.168\..*|\[.*\])$/

function encryption(urls: string): Finding {
  const open = urls.split(',').find((url) => {
    const { protocol, hostname } = new URL(url.trim())
    return protocol === 'redis:' && !privateHost.test(hostname)
  })
  return open === undefined
    ? ok('Redis TLS', 'encrypted, or within a private network')
    : warn('Redis TLS', 'redis:// across a network: use rediss://')
}

/** A key file grows by about a kilobyte a key. */
const leastFree = 64 * 1024 * 1024

async function folder(path: string): Promise<Finding[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found) {
    const isWritable = await mayWrite(dirname(path))
    return [
      isWritable
        ? warn('DATA_DIR', `${path} does not exist yet; on a volume it would`)
        : fail('DATA_DIR', `${path} does not exist and cannot be made`),
    ]
  }
  if (!found.isDirectory()) return [fail('DATA_DIR', `${path} is no folder`)]
  if (!(await mayWrite(path))) return [fail('DATA_DIR', `${path} cannot be written`)]
  const findings = [await permissions(path, found.mode)]
  const { bavail, bsize } = await statfs(path)
  if (bavail * bsize < leastFree) {
    findings.push(warn('disk', `${Math.round((bavail * bsize) / 1024 / 1024)} MB left: soon no API key can be made`))
  }
  return findings
}

const mayWrite = (path: string): Promise<boolean> =>
  access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )

async function permissions(path: string, mode: number): Promise<Finding> {
  const octal = (bits: number): string => `0${(bits & 0o777).toString(8)}`
  if (mode & 0o077) return fail('DATA_DIR', `${path} is open to other users (${octal(mode)}); set 0700`)
  const file = await stat(join(path, 'keys.mdb')).catch(() => undefined)
  if (file && file.mode & 0o077)
    return fail('DATA_DIR', `keys.mdb is open to other users (${octal(file.mode)}); set 0600`)
  return ok('DATA_DIR', `${path}, writable, for this user only`)
}
