/** The environment as one schema, and the configuration that it means; reports every problem at once. */
import { isIP } from 'node:net'
import { envSchema } from 'env-schema'
import { DateTime } from 'luxon'
import { type Static, Type } from 'typebox'

const integer = (fallback: number, description: string, minimum = 1, maximum = 2_147_483_647) =>
  Type.Integer({ default: fallback, minimum, maximum, description })
const text = (description: string, fallback: string) => Type.String({ default: fallback, description })
const optional = (description: string) => Type.Optional(Type.String({ description }))

/** Every variable the gateway reads. An empty value counts as unset. */
export const Environment = Type.Object({
  HOST: text('Address to listen on', '0.0.0.0'),
  PORT: integer(3000, 'Port of the API; 0 = any free port', 0, 65_535),
  OPS_HOST: text('Address that the operations listener (`OPS_PORT`) listens on; it has no authentication', '127.0.0.1'),
  OPS_PORT: text('Port of `/metrics`, `/callers`, `/ready` and `/live`; 0 = any free port, `off` = none', '9091'),
  PLATFORM_URL: optional(
    "The platform's API base, for example `https://tracker.example.com/api`; unset = the sandbox in the process",
  ),
  PLATFORM_TIMEOUT_MS: integer(
    10_000,
    'Deadline of one call to the platform, or of all pages of a device list, milliseconds; a request is 503 after 50 s in any case',
  ),
  REDIS_URL: optional(
    'One `redis://` or `rediss://` URL, or several comma-separated = a cluster; unset = the embedded store',
  ),
  DATA_DIR: text(
    'Folder of the embedded store, on a local disk: its file system must have locks and shared memory maps',
    './data',
  ),
  DEMO_TOKEN: optional(
    'The shared demo token, which `/api/docs` shows; beside a platform it starts the sandbox, too; unset = `demo` without a platform, else none',
  ),
  RATE_LIMIT_MAX: integer(100, 'Requests per window and credential'),
  RATE_LIMIT_WINDOW_S: integer(60, 'Length of the window, seconds', 1, 86_400),
  POSITION_TTL_MS: integer(5_000, 'Time to live of cached positions, milliseconds'),
  CACHE_MAX_MB: integer(
    256,
    'Memory for cached positions, megabytes, at most half of the heap; beyond this, the least recently used accounts are evicted',
    1,
    65_536,
  ),
  ACCOUNT_TTL_MS: integer(
    60_000,
    'Time to live of a validated credential, and of the zone and units of its account, milliseconds; these count for another hour while the platform sends new ones late',
  ),
  ADDRESS_LOOKUPS_PER_MINUTE: integer(
    0,
    "Lookups with the platform's geocoder for positions without an address, per instance; an account has a quarter of them, at least one; 0 = none, since the platform may pay for each",
    0,
    100_000,
  ),
  MAX_KEYS_PER_ACCOUNT: integer(20, 'Active API keys an account may hold', 1, 1_000),
  HISTORY_MAX_DAYS: integer(31, 'Maximum number of days in one history request', 1, 3_660),
  TRUST_PROXY: optional(
    'Proxies in front: a hop count, or their addresses as comma-separated CIDRs; unset = none is trusted',
  ),
  PUBLIC_URL: optional("The API's address as callers see it; unset = `http://localhost:PORT/api`"),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], {
    type: 'string',
    default: 'info',
    description: 'Minimum level to log',
  }),
  GATEWAY_CLOCK: optional(
    'An ISO 8601 instant at which the clock stands still, so that two replays send the same bytes; unset = real time',
  ),
  SANDBOX_SEED: integer(7, 'Seed of the simulated fleet', 0),
})
export type Environment = Static<typeof Environment>

export type Config = ReturnType<typeof toConfig>

/** What is wrong with the environment: one line per problem, none with a value that may be a secret. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(`the configuration has ${problems.length} problem(s):\n${problems.map((one) => `  - ${one}`).join('\n')}`)
    this.problems = problems
  }
}

/** The configuration of an environment, with defaults. @throws ConfigError that lists every problem. */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  // Files of secrets end with a line feed.
  const trimmed = Object.entries(env).map(([name, value]) => [name, value?.trim()] as const)
  const given = Object.fromEntries(trimmed.filter(([, value]) => value !== undefined && value !== ''))
  const problems: string[] = []
  const values = parsed(given, problems)
  // Ajv accepts Infinity as an integer, without its limits.
  for (const [name, schema] of Object.entries(Environment.properties))
    if (Type.IsInteger(schema) && Math.abs(Number(given[name])) === Infinity) problems.push(`${name} must be integer`)
  // Docker's `--env-file` keeps the quotes of a file: a folder of that name would be lost with its container.
  for (const name of Object.keys(Environment.properties))
    if (/^(["']).*\1$/.test(given[name] ?? '')) problems.push(`${name} must not be in quotation marks`)
  for (const [name, problemOf] of Object.entries(checks)) {
    const raw = given[name]
    const problem = raw === undefined ? undefined : problemOf(raw)
    if (problem) problems.push(`${name} ${problem}`)
  }
  if (values && isOnePort(values)) problems.push('OPS_PORT must differ from PORT')
  if (values === undefined || problems.length > 0) throw new ConfigError(problems)
  return toConfig(values)
}

/** Whether both listeners would need the same port of the same address. */
function isOnePort({ HOST, PORT, OPS_HOST, OPS_PORT }: Environment): boolean {
  const isEvery = [HOST, OPS_HOST].some((host) => host === '0.0.0.0' || host === '::')
  return PORT > 0 && PORT === Number(OPS_PORT) && (isEvery || HOST === OPS_HOST)
}

function parsed(given: Record<string, string | undefined>, problems: string[]): Environment | undefined {
  try {
    return envSchema<Environment>({ schema: Environment, data: given, env: false })
  } catch (error) {
    const { errors } = error as { errors?: { instancePath: string; message?: string; params?: object }[] }
    if (!errors) throw error
    for (const { instancePath, message, params } of errors) {
      const values = params && 'allowedValues' in params ? `: ${[params.allowedValues].flat().join(', ')}` : ''
      problems.push(`${instancePath.slice(1)} ${message}${values}`)
    }
    return undefined
  }
}

function urlProblem(raw: string, protocols: string[]): string | undefined {
  const url = URL.canParse(raw) ? new URL(raw) : undefined
  // The parser would take the host of `http:///api` from its path.
  const hasHost = /^\w+:\/\/[^/\\]/.test(raw) && url?.hostname !== ''
  if (url && protocols.includes(url.protocol) && hasHost) return undefined
  return `must be a URL beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`
}

/** Only origin and path are used. */
function baseProblem(raw: string): string | undefined {
  const problem = urlProblem(raw, ['http:', 'https:'])
  if (problem !== undefined) return problem
  const { username, password, search, hash } = new URL(raw)
  return username + password + search + hash === '' ? undefined : 'must be a URL without user, query and fragment'
}

/** Rejects URLs with which the Redis client would throw, end the process, or use another database: it takes any option from a query. */
function redisProblem(raw: string, isCluster: boolean): string | undefined {
  const notEncoded = 'must have its user and password percent-encoded'
  const problem = urlProblem(raw, ['redis:', 'rediss:'])
  // Some characters of a password would end the host, or the port.
  if (problem !== undefined)
    return /^rediss?:/.test(raw) ? `must have a host and a valid port, and ${notEncoded}` : problem
  const { username, password, pathname, search, hash } = new URL(raw)
  if (hash !== '') return notEncoded
  if (!/^\/?\d{0,9}$/.test(pathname)) return 'must have the number of a database as its path, or none'
  if (isCluster && Number(pathname.slice(1)) > 0) return 'must not have the number of a database: a cluster has only 0'
  if (!/^(\?family=[046])?$/.test(search)) return 'must have no query, except family=0, family=4 or family=6'
  try {
    decodeURIComponent(username + password)
    return undefined
  } catch {
    return notEncoded
  }
}

const hostProblem = (raw: string): string | undefined =>
  isIP(raw) > 0 || !/[:/[\]]/.test(raw) ? undefined : 'must be an address or a name, without brackets and port'

/** What the schema language cannot say: the problem of a value that is set. */
const checks: { [name in keyof Environment]?: (raw: string) => string | undefined } = {
  HOST: hostProblem,
  OPS_HOST: hostProblem,
  PLATFORM_URL: baseProblem,
  PUBLIC_URL: baseProblem,
  REDIS_URL: (raw) =>
    raw
      .split(',')
      .map((one, _, all) => redisProblem(one.trim(), all.length > 1))
      .find((problem) => problem !== undefined),
  // The reference shows it in its examples, between single quotes.
  DEMO_TOKEN: (raw) =>
    /^[!-&(-[\]-~]{1,128}$/.test(raw)
      ? undefined
      : 'must be 1 to 128 ASCII characters, without spaces, single quotes and backslashes',
  GATEWAY_CLOCK: (raw) =>
    isInstant(raw) ? undefined : 'must be an ISO 8601 instant since 1970, such as 2026-11-20T09:00:00Z',
  OPS_PORT: (raw) =>
    /^(off|\d{1,5})$/.test(raw) && !(Number(raw) > 65_535) ? undefined : 'must be `off` or a port up to 65535',
  TRUST_PROXY: (raw) =>
    proxies(raw) ? undefined : 'must be a hop count or comma-separated addresses or CIDRs, none of them /0',
}

/** For Fastify's `trustProxy`. A hop count is a function, because Fastify trusts no peer with a number alone; the peer is hop 0. */
function proxies(raw: string): false | string[] | ((address: string, hop: number) => boolean) {
  if (/^\d{1,2}$/.test(raw)) return (_address, hop) => hop < Number(raw)
  const ranges = raw.split(',').map((one) => one.trim())
  return ranges.every(isRange) && ranges
}

/** Without a zone it would depend on that of the process, and `Date` takes 30 February for 2 March. The store has no negative times. */
const isInstant = (raw: string): boolean =>
  /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(raw) &&
  DateTime.fromISO(raw).isValid &&
  Date.parse(raw) >= 0

function isRange(text: string): boolean {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^[1-9]\d{0,2}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

function toConfig(env: Environment) {
  const sandbox = env.PLATFORM_URL === undefined
  const { origin, pathname } = new URL(env.PUBLIC_URL ?? `http://localhost:${env.PORT}/api`)
  const standstill = env.GATEWAY_CLOCK === undefined ? undefined : Date.parse(env.GATEWAY_CLOCK)
  return {
    host: env.HOST,
    port: env.PORT,
    opsHost: env.OPS_HOST,
    /** null = no second listener. */
    opsPort: env.OPS_PORT === 'off' ? null : Number(env.OPS_PORT),
    /** undefined = the sandbox in the process. */
    platformUrl: env.PLATFORM_URL,
    platformTimeoutMs: env.PLATFORM_TIMEOUT_MS,
    redisUrl: env.REDIS_URL,
    dataDir: env.DATA_DIR,
    demoToken: env.DEMO_TOKEN ?? (sandbox ? 'demo' : undefined),
    rateLimitMax: env.RATE_LIMIT_MAX,
    rateLimitWindowMs: env.RATE_LIMIT_WINDOW_S * 1_000,
    positionTtlMs: env.POSITION_TTL_MS,
    cacheMaxBytes: env.CACHE_MAX_MB * 1024 * 1024,
    accountTtlMs: env.ACCOUNT_TTL_MS,
    addressLookupsPerMinute: env.ADDRESS_LOOKUPS_PER_MINUTE,
    maxKeysPerAccount: env.MAX_KEYS_PER_ACCOUNT,
    historyMaxDays: env.HISTORY_MAX_DAYS,
    trustProxy: Number(env.TRUST_PROXY) !== 0 && proxies(env.TRUST_PROXY ?? ''),
    /** Without a trailing slash. */
    publicUrl: (origin + pathname).replace(/(?<!\/)\/+$/, ''),
    logLevel: env.LOG_LEVEL,
    sandboxSeed: env.SANDBOX_SEED,
    /** Epoch milliseconds. */
    clock: standstill === undefined ? Date.now : () => standstill,
  }
}
