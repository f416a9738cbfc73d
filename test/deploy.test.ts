/** The image and the deployments: they name files, ports and settings there are, and their steps work. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { parse as parseToml } from 'smol-toml'
import t, { type Test } from 'tap'
import { parse as parseYaml } from 'yaml'
import { Environment, readConfig } from '../src/config.js'
import { temporaryFolder } from './folder.js'
import { only } from './only.js'
import { Program } from './process.js'

const root = process.cwd()
const text = (name: string): string => readFileSync(join(root, name), 'utf8')

interface Stage {
  name: string
  steps: { verb: string; rest: string }[]
}

/** Stages and steps of a Dockerfile, with continued lines joined and comments left out. */
function stagesOf(dockerfile: string): Stage[] {
  const text = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, ' ')
  const stages: Stage[] = [{ name: '', steps: [] }]
  for (const [, verb = '', rest = ''] of text.matchAll(/^(\S+)[ \t]+(.*)$/gm)) {
    if (verb === 'FROM') stages.push({ name: / AS (\S+)$/.exec(rest)?.[1] ?? 'final', steps: [] })
    stages.at(-1)?.steps.push({ verb, rest })
  }
  return stages
}

const stages = stagesOf(text('Dockerfile'))
const final = stages.find(({ name }) => name === 'gateway')?.steps ?? []

t.test('the image runs without root, without tools, and can be read-only', async (t) => {
  const verbs = /^(ARG|FROM|WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|STOPSIGNAL|HEALTHCHECK|CMD|ENTRYPOINT)$/
  for (const { steps } of stages) for (const { verb } of steps) t.match(verb, verbs)
  t.match(stages[0]?.steps[0]?.rest, /^NODE_IMAGE=node:24-slim$/)
  for (const { steps } of stages.slice(1))
    t.match(steps[0]?.rest, /^(\$\{NODE_IMAGE\}|gateway)/, 'one base, in one place')
  t.same(stages.at(-1)?.steps, [{ verb: 'FROM', rest: 'gateway' }], 'without a target, nothing is added')
  const user = final.findIndex(({ verb }) => verb === 'USER')
  t.equal(final[user]?.rest, 'node')
  const after = final.slice(user).map(({ verb }) => verb)
  t.notOk(after.includes('RUN') || after.includes('COPY'), 'what the process may run it cannot change')
  for (const { rest } of final) t.notMatch(rest, /npm|apt|curl/, 'nothing is installed into the image that runs')
  t.ok(stages.some(({ name, steps }) => name === 'packages' && steps.some(({ rest }) => rest === 'npm ci --omit=dev')))
  const finalOf = (wanted: string) => final.filter(({ verb }) => verb === wanted).map(({ rest }) => rest)
  t.ok(finalOf('ENV').includes('OPS_HOST=0.0.0.0'), 'operations are reachable from outside the container')
  t.match(finalOf('HEALTHCHECK'), only(/\/api\/health/))
  for (const copied of finalOf('COPY')) t.match(copied, /^--from=/, 'modes of the image, not of the checkout')
  const built = stages.find(({ name }) => name === 'build')?.steps.map(({ rest }) => rest) ?? []
  t.ok(built.indexOf('chmod -R u=rwX,go=rX dist package.json') > built.indexOf('npm run build'))
  const { scripts, bin } = JSON.parse(text('package.json'))
  const name = 'gps-fleet-gateway'
  t.ok(finalOf('RUN').includes(`ln -s /app/${bin[name]} /usr/local/bin/${name}`), 'its command is found by its name')
  const start = scripts.start.split(' ')
  const [command = '', ...more] = finalOf('CMD')
  t.same([JSON.parse(command), more], [start, []], 'the process itself, so that it gets the signals')
})

t.test('the image checks its health at the address that it listens on', async (t) => {
  const { rest = '' } = final.find(({ verb }) => verb === 'HEALTHCHECK') ?? {}
  const [program = '', ...words] = JSON.parse(/CMD (\[.*\])$/.exec(rest)?.[1] ?? '[]')
  let status = 200
  const server = createServer(({ url }, response) => response.writeHead(url === '/api/health' ? status : 404).end())
  server.listen(0)
  await once(server, 'listening')
  const { port, family } = server.address() as AddressInfo
  t.teardown(() => server.close())
  const check = (env: Record<string, string>) =>
    new Program(t, program, words, { env: { PATH: process.env.PATH, PORT: ` ${port} `, ...env } }).exited
  t.equal(await check({}), 0)
  for (const HOST of ['0.0.0.0', '::', ' 127.0.0.2 ', 'localhost', ...(family === 'IPv6' ? ['::1'] : [])])
    t.equal(await check({ HOST }), 0, HOST)
  status = 503
  t.equal(await check({}), 1)
})

t.test('what the image is made from is in the build context, and nothing else is', async (t) => {
  const allowed = text('.dockerignore').match(/(?<=^!).*/gm) ?? []
  const copies = stages.flatMap(({ steps }) => steps.filter(({ verb }) => verb === 'COPY')).map(({ rest }) => rest)
  const copied = copies.filter((rest) => !rest.startsWith('--from')).flatMap((rest) => rest.split(' ').slice(0, -1))
  t.same([...new Set(copied)].sort(), allowed.sort())
  for (const name of allowed) t.ok(existsSync(join(root, name)), name)
})

t.test('a process keeps its program at one byte for each character: a single one beyond Latin-1 doubles it', (t) => {
  for (const name of ['dist/main.js', 'dist/devices/worker.js']) t.notMatch(text(name), /[^\0-\xff]/, name)
  t.end()
})

// biome-ignore lint/suspicious/noExplicitAny: a file of a foreign shape
const fly = parseToml(text('fly.toml')) as any

t.test('on Fly.io the volume belongs to the user of the image, and the gateway does not run as root', async (t) => {
  const stage = stages.find(({ name }) => name === fly.build['build-target'])
  const entrypoint = stage?.steps.find(({ verb }) => verb === 'ENTRYPOINT')?.rest ?? ''
  const [, , script = ''] = JSON.parse(entrypoint)
  const [chown, become] = script.split(' && exec ')
  t.match([chown, become], ['chown -R node:node /data', /^setpriv --reuid=node --regid=node --clear-groups .* "\$@"$/])
  t.equal(fly.mounts[0].destination, '/data')
  const [cmd, usual] = [stage?.steps ?? [], final].map((steps) => steps.find(({ verb }) => verb === 'CMD')?.rest)
  t.equal(cmd, usual)
})

t.test('Fly.io finds the ports, checks and settings it is told of', async (t) => {
  const config = readConfig(fly.env)
  t.hasStrict(fly, {
    http_service: { internal_port: config.port, checks: [{ path: '/api/health' }] },
    metrics: { port: config.opsPort, path: '/metrics' },
    checks: { ready: { port: config.opsPort, path: '/ready' } },
    kill_signal: 'SIGTERM',
  })
  t.equal(config.opsHost, '0.0.0.0')
  t.notOk('app' in fly || 'PUBLIC_URL' in fly.env, 'the name of an app belongs to one deployment')
  const [, gigabytes] = /^(\d+)gb$/.exec(fly.vm[0].memory) ?? []
  t.ok(Number(gigabytes) * 1024 ** 3 >= 4 * config.cacheMaxBytes, 'room for cache, heap and the rest')
  t.ok(config.dataDir.startsWith(`${fly.mounts[0].destination}/`), 'keys live on the volume')
  t.ok(Number.parseInt(fly.kill_timeout, 10) > graceS(), 'longer than the process itself waits')
  t.ok(fly.http_service.concurrency.soft_limit < fly.http_service.concurrency.hard_limit)
  t.equal(typeof config.trustProxy, 'function')
})

/** Seconds the process gives itself, as it says. */
function graceS(): number {
  const [, ms = ''] = /graceMs = ([\d_]+)/.exec(text('src/main.ts')) ?? []
  return Number(ms.replaceAll('_', '')) / 1_000
}

t.test('compose gives keys a Redis that keeps them', async (t) => {
  // biome-ignore lint/suspicious/noExplicitAny: a file of a foreign shape
  const { services, volumes } = parseYaml(text('compose.yaml')) as any
  const { gateway, redis } = services
  const given = Object.entries(gateway.environment as Record<string, string>)
  const names = [...Object.keys(Environment.properties), 'NODE_EXTRA_CA_CERTS'].sort()
  t.same(given.map(([name]) => name).sort(), names, 'compose.yaml passes on every setting')
  for (const [name, value] of given) t.match(value, new RegExp(`^\\$\\{${name}:-[^}]*\\}$`))
  const env = Object.fromEntries(given.map(([name, value]) => [name, value.replace(/\$\{\w+:-(.*)\}/, '$1')]))
  for (const { logging } of [gateway, redis])
    t.match(logging, { driver: 'json-file', options: { 'max-size': /\dm$/, 'max-file': /\d/ } })
  t.equal(readConfig(env).redisUrl, 'redis://redis:6379', 'its settings are valid as they stand')
  t.equal(readConfig(env).opsHost, '0.0.0.0')
  t.match(redis.command, /--maxmemory-policy noeviction/)
  t.match(redis.command, /--appendonly yes/)
  t.match(redis.command, /--stop-writes-on-bgsave-error no/, 'a snapshot that fails stops nothing')
  t.ok(Object.hasOwn(volumes, redis.volumes[0].split(':')[0]), 'on a volume')
  t.equal(gateway.read_only, true)
  t.ok(Number.parseInt(gateway.stop_grace_period, 10) > graceS())
  for (const port of gateway.ports) t.notMatch(port, /9091|OPS_PORT/, 'operations are not published')
  t.notOk('expose' in gateway, 'OPS_PORT may be off')
})

/** Runs the steps of a stage in an empty folder that stands for its root, as `docker build` would. */
async function build(t: Test, stage: Stage, roots: Map<string, string>): Promise<void> {
  const base = temporaryFolder(t)
  roots.set(stage.name, base)
  let workdir = base
  for (const { verb, rest } of stage.steps) {
    if (verb === 'WORKDIR') {
      workdir = join(base, rest)
      mkdirSync(workdir, { recursive: true })
    } else if (verb === 'COPY') {
      const words = rest.split(' ')
      const from = words[0]?.startsWith('--from=') ? roots.get(words.shift()?.slice(7) ?? '') : root
      const to = words.pop() ?? '.'
      for (const word of words) {
        const target = join(workdir, to === './' ? basename(word) : to)
        mkdirSync(dirname(target), { recursive: true })
        cpSync(join(from ?? root, word), target, { recursive: true, verbatimSymlinks: true })
      }
    } else if (verb === 'RUN' && rest.startsWith('npm')) {
      const [command = '', ...args] = rest.split(' ')
      await promisify(execFile)(command, args, { cwd: workdir, maxBuffer: 2 ** 24 })
    }
  }
}

// Of the whole file: its own limit would end the test earlier.
t.setTimeout(600_000)
const isLong = process.env.FAULTS === 'long' ? false : 'installs packages: set FAULTS=long'
t.test('the steps of the Dockerfile make a gateway that responds, and its tools', { skip: isLong }, async (t) => {
  const roots = new Map<string, string>()
  for (const stage of stages.filter(({ steps }) => steps[0]?.rest.startsWith('$'))) await build(t, stage, roots)
  const app = join(roots.get('gateway') ?? '', 'app')
  t.same(readdirSync(app).sort(), ['dist', 'node_modules', 'package.json'])
  for (const name of ['typescript', 'tap', '@biomejs'])
    t.notOk(existsSync(join(app, 'node_modules', name)), `no ${name}`)
  const dataDir = join(roots.get('gateway') ?? '', 'data')
  const env = { PATH: process.env.PATH, HOST: '127.0.0.1', PORT: '0', OPS_PORT: 'off', DATA_DIR: dataDir }
  const [program = '', ...words] = JSON.parse(final.find(({ verb }) => verb === 'CMD')?.rest ?? '[]')
  const child = new Program(t, program, words, { cwd: app, env })
  const url = await child.printed(/listening on (http:\/\/127\S+)\/api/)
  t.equal((await fetch(`${url}/api/health`)).status, 200)
  const fleet = await fetch(`${url}/api/v1/devices`, { headers: { authorization: 'Bearer demo' } })
  t.equal(fleet.status, 200)
  for (const command of ['check', 'keys list', 'replay --help', 'record --help']) {
    const tool = new Program(t, process.execPath, ['dist/main.js', ...command.split(' ')], { cwd: app, env })
    t.equal(await tool.exited, 0, `${command}: ${tool.log}`)
  }
  child.signal('SIGTERM')
  t.equal(await child.exited, 0)
})
