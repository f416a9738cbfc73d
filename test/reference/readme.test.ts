/** The README is true: its settings, its links and all its commands. CONTRIBUTING.md links only to what exists. */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { parse as parseYaml } from 'yaml'
import { Environment } from '../../src/config.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { alone } from '../all.js'
import { temporaryFolder } from '../folder.js'
import { gateway, platform } from '../helper.js'
import { exchange } from '../http/raw.js'
import { only } from '../only.js'
import { Program } from '../process.js'
import { freePort, until } from '../redis.js'
import { fencedBlocks, runBlock } from './blocks.js'
import { isUpdating } from './committed.js'

const readme = readFileSync('README.md', 'utf8')
type Manifest = { scripts: Record<string, string>; version: string }
const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8')) as Manifest

const marked = /(<!-- configuration -->\n)(.*?)(<!-- \/configuration -->)/s

function settingsTable(): string {
  const rows = Object.entries(Environment.properties).map(([name, property]) => {
    const about = property as { default?: unknown; description?: string; enum?: unknown[] }
    const { default: usual, description, enum: values } = about
    const all = values ? `: ${values.map((value) => `\`${value}\``).join(', ')}` : ''
    return `| \`${name}\` | ${usual === undefined ? '' : `\`${usual}\``} | ${description}${all} |`
  })
  return ['', '| Variable | Default | What it is |', '|---|---|---|', ...rows, '', ''].join('\n')
}

t.test('the configuration table matches the configuration', async (t) => {
  const updated = readme.replace(marked, (_, a, __, b) => a + settingsTable() + b)
  if (isUpdating) writeFileSync('README.md', updated)
  const [, , table] = marked.exec(readFileSync('README.md', 'utf8')) ?? []
  t.equal(table, settingsTable(), 'refresh it with: UPDATE_OPENAPI=1 npm test -- test/reference/readme.test.ts')
})

t.test('the hashes of the sandbox accounts are correct', async (t) => {
  for (const { email, hash, devices } of sandboxAccounts()) {
    t.match(readme, `| ${devices} | \`${hash}\` |`, email)
  }
})

t.test('npm ci warns about nothing: no package wants a newer Node, every install script is settled', async (t) => {
  const { allowScripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { allowScripts: Record<string, boolean> }
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as {
    packages: Record<
      string,
      { resolved?: string; hasInstallScript?: true; deprecated?: string; engines?: { node?: string } }
    >
  }
  const newer = /^(?:>=?|\^|~)? *(?:20\.(?:[2-9]\d)|2[1-9]|[3-9]\d)[\d.]*$/
  for (const [path, { resolved, hasInstallScript, deprecated, engines }] of Object.entries(packages)) {
    const name = path.split('node_modules/').at(-1) as string
    if (hasInstallScript) t.ok(name in allowScripts, `the install script of ${name} is settled`)
    if (resolved) t.fail(`${name} names the host of a registry`)
    if (deprecated) t.fail(`${name} is deprecated: ${deprecated}`)
    if (engines?.node && newer.test(engines.node)) t.fail(`${name} wants Node ${engines.node}`)
  }
})

t.test('the Node to install is the oldest that npm accepts without a warning', async (t) => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } }
  // Before 20.19.2 the parser of Node 20 ends a header at CR LF CR and any byte: a proxy in front sees other requests.
  t.equal(engines.node, '>=20.19.2')
  for (const text of [readme, readFileSync('CONTRIBUTING.md', 'utf8')]) t.match(text, 'You need Node 20.19.2 or newer.')
})

t.test('the end of npm test says what was skipped for want of which program, and how to install it', async (t) => {
  const programs = ['redis-server', 'chromium', 'wrk', 'promtool', 'nginx']
  const folder = t.testdir({ none: {}, all: {} })
  for (const name of programs) writeFileSync(join(folder, 'all', name), '', { mode: 0o755 })
  // Unlike `posttest` of npm, tap runs it after failures, too.
  const { after } = parseYaml(readFileSync('.taprc', 'utf8')) as { after: string }
  const printed = (PATH: string) => spawnSync(process.execPath, [after], { env: { PATH }, encoding: 'utf8' }).stdout
  const said = printed(join(folder, 'none'))
  // Programs in /usr/sbin, such as nginx, are found in any case.
  for (const name of programs.slice(0, 4))
    t.match(said, new RegExp(`^SKIPPED: .*, because ${name} is not installed\\.$`, 'm'))
  t.match(said, /^Install: apt-get install redis-server chromium wrk prometheus/m)
  t.equal(printed(join(folder, 'all')), '')
})

t.test('every linked file and every named script exists, and two commands set everything up', async (t) => {
  for (const text of [readme, readFileSync('CONTRIBUTING.md', 'utf8')]) {
    const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, path]) => path as string)
    t.ok(links.length > 10)
    for (const path of links) t.ok(existsSync(path), path)
    for (const [, name] of text.matchAll(/npm run ([\w:]+)/g)) t.ok((name as string) in scripts, `npm run ${name}`)
  }
  for (const setUp of ['npm ci && npm start', 'npm ci && npm test']) t.match(readme, setUp)
  t.match(readFileSync('CHANGELOG.md', 'utf8'), `## ${version}\n`, 'the changelog has this version')
})

t.test('every file opens with what it is, and has at most 250 lines', async (t) => {
  const filesIn = (folder: string): string[] =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  const isGenerated = (path: string): boolean => path === join('test', 'reference', 'types.ts')
  for (const path of [...filesIn('src'), ...filesIn('test')].filter(
    (path) => path.endsWith('.ts') && !isGenerated(path),
  )) {
    const [first = '', second = '', ...others] = readFileSync(path, 'utf8').split('\n')
    t.match(first.startsWith('#!') ? second : first, /^\/(\*\*|\/)/, path)
    t.ok(others.length + 1 <= 250, path)
  }
})

t.test('npm test runs every test', async (t) => {
  const { include } = parseYaml(readFileSync('.taprc', 'utf8')) as { include: string[] }
  t.same(include, ['test/*.test.ts', 'test/*/all.ts', ...alone.map((start) => `test/${start}*.test.ts`)])
  const inFolders = readdirSync('test', { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\/.*\.test\.ts$/.test(path),
  )
  for (const folder of new Set(inFolders.map((path) => path.split('/')[0] as string)))
    t.match(readFileSync(join('test', folder, 'all.ts'), 'utf8'), 'await runAll(import.meta.dirname)', folder)
})

t.test('the source tree of the README lists every file and folder of src', async (t) => {
  const listed = [...readme.matchAll(/^\| \[(src\/[\w.-]+)\]/gm)].map(([, path]) => path as string)
  const found = readdirSync('src').map((name) => `src/${name}`)
  t.same(listed.toSorted(), found.toSorted())
})

const lines = fencedBlocks(readme).flatMap(({ code }) => code.trim().split('\n'))

t.test('every request runs as pasted', async (t) => {
  const { url } = await gateway(t)
  const requests = lines.filter((line) => line.startsWith('curl '))
  t.equal(requests.length, 4)
  let keyId = ''
  let hash = ''
  for (const line of requests) {
    hash = /"platform_hash": "(\$[^"]+)"/.exec(line)?.[1] ?? hash
    const own = line.replace('http://localhost:3000/api', url).replace('<id>', keyId)
    const code = own.replace('<PLATFORM_HASH>', () => hash)
    const { code: exit, out, err } = await runBlock({ name: line, language: 'shell', code })
    t.equal(exit, 0, err)
    keyId = JSON.parse(out).id ?? keyId
    t.ok(JSON.parse(out), line)
  }
})

const nginx = '/usr/sbin/nginx'
const withoutNginx =
  process.env.CI || existsSync(nginx) ? false : 'nginx is not installed: ITS CONFIGURATION IS NOT RUN'

t.test('behind nginx as configured, a request counts on its client', { skip: withoutNginx }, async (t) => {
  const { url, lines } = await gateway(t, { env: { TRUST_PROXY: '1' } })
  const { code = '' } = fencedBlocks(readme).find(({ language }) => language === 'nginx') ?? {}
  const [folder, port] = [temporaryFolder(t), await freePort()]
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const server = `listen 127.0.0.1:${port}; ${code.replace('http://127.0.0.1:3000', new URL(url).origin)}`
  const config = `daemon off; master_process off; pid ${folder}/pid; events {} http { access_log off; ${paths.join(' ')} server { ${server} } }`
  writeFileSync(join(folder, 'nginx.conf'), config)
  const proxy = new Program(t, nginx, ['-c', join(folder, 'nginx.conf'), '-e', 'stderr'])
  const headers = { authorization: 'Bearer demo', 'x-forwarded-for': '203.0.113.9' }
  const send = () => fetch(`http://127.0.0.1:${port}/api/v1/me`, { headers }).catch(() => undefined)
  await until(async () => (await send())?.status === 200)
  t.match(lines('request'), only({ ip: '127.0.0.1', status: 200 }), proxy.log)
  const old = await exchange(`http://127.0.0.1:${port}`, 'GET /api/health HTTP/1.0\r\n\r\n')
  t.match(old, / 200 /, 'an HTTP/1.0 request needs no Host')
})

/** The output of a command. Without an exit code it keeps running, and is ended after that output. */
interface Expected {
  prints: RegExp
  exit?: number
}

const commands: Record<string, Expected> = {
  'npm start': { prints: /listening on/ },
  'npm run check': { prints: /0 to fix/, exit: 0 },
  'npm run keys -- list fleet@example.com': { prints: /./, exit: 0 },
  'npm run sandbox -- --port 9000 --devices 200 --latency 50': { prints: /http:\/\/127\.0\.0\.1:\d+/ },
  'npm run replay -- fixtures/acme --port 9000': { prints: /http:\/\/127\.0\.0\.1:\d+/ },
  'npm run record -- --platform https://tracker.example.com/api --as mycompany': {
    prints: /http:\/\/127\.0\.0\.1:\d+/,
  },
}

t.test('every command runs as pasted', async (t) => {
  const listed = lines.filter((line) => line.startsWith('npm ')).map((line) => line.replace('npm ci && ', ''))
  t.same(listed.sort(), Object.keys(commands).sort(), 'each is tested')
  const folder = checkout(t)
  const away = await platform(t, { '*': {} })
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: '0', OPS_PORT: 'off', RECORD_SECRET: 'a secret for tests' }
  const begun = (line: string) => new Program(t, 'bash', ['-c', line], { cwd: folder, detached: true, env })
  const build = begun('npm run build')
  t.equal(await build.exited, 0, build.log)
  const run = async ([line, { prints, exit }]: [string, Expected]) => {
    const { url } = away
    const here = line.replace('--port 9000', '--port 0').replace('https://tracker.example.com/api', `${url} --port 0`)
    const command = begun(here)
    if (exit === undefined) {
      t.ok(await command.printed(prints), line)
      command.signal('SIGKILL')
      return command.exited
    }
    t.equal(await command.exited, exit, command.log)
    t.match(command.log, prints, line)
  }
  // The first creates the data folder, which `keys` reads.
  const [first, ...others] = Object.entries(commands) as [[string, Expected]]
  await run(first)
  await Promise.all(others.map(run))
})

/** The project in a folder of its own, without the builds before each command: it is built once. */
function checkout(t: Test): string {
  const folder = temporaryFolder(t)
  for (const name of ['src', 'fixtures', 'tsconfig.json']) cpSync(name, join(folder, name), { recursive: true })
  const kept = Object.entries(scripts).filter(([, body]) => body !== 'npm run --silent build')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: Object.fromEntries(kept) }))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}
