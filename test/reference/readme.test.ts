/** What the README says is so: settings, files, and every command in it. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import t from 'tap'
import { Environment } from '../../src/config.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway, platform, sandbox } from '../helper.js'
import { fencedBlocks, runBlock } from './blocks.js'
import { isUpdating } from './committed.js'

const readme = readFileSync('README.md', 'utf8')
const { scripts, version } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  scripts: Record<string, string>
  version: string
}

const marked = /(<!-- configuration -->\n)(.*?)(<!-- \/configuration -->)/s

function settingsTable(): string {
  const rows = Object.entries(Environment.properties).map(([name, property]) => {
    const { default: usual, description } = property as { default?: unknown; description?: string }
    return `| \`${name}\` | ${usual === undefined ? '' : `\`${usual}\``} | ${description} |`
  })
  return ['', '| Variable | Default | What it is |', '|---|---|---|', ...rows, '', ''].join('\n')
}

t.test('the table of settings is the one the gateway reads', async (t) => {
  if (isUpdating)
    writeFileSync(
      'README.md',
      readme.replace(marked, (_, a, __, b) => a + settingsTable() + b),
    )
  const [, , table] = marked.exec(readFileSync('README.md', 'utf8')) ?? []
  t.equal(table, settingsTable(), 'refresh it with: UPDATE_OPENAPI=1 npx tap test/reference/readme.test.ts')
})

t.test('the hashes of the sandbox are the ones it prints', async (t) => {
  for (const { email, hash, devices } of sandboxAccounts()) {
    t.match(readme, `| ${devices} | \`${hash}\` |`, email)
  }
})

t.test('every file and script it names exists', async (t) => {
  const links = [...readme.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => path as string)
  t.ok(links.length > 20)
  for (const path of links) t.ok(existsSync(path), path)
  for (const [, name] of readme.matchAll(/npm run ([\w:]+)/g)) t.ok((name as string) in scripts, `npm run ${name}`)
  t.match(readme, `### ${version}\n`, 'the changelog knows this version')
})

const lines = fencedBlocks(readme).flatMap(({ language, code }) =>
  code
    .trim()
    .split('\n')
    .map((line) => ({ language, line })),
)

t.test('every request works as pasted', async (t) => {
  const { url } = await gateway(t)
  const fleet = await sandbox(t)
  const connected = await gateway(t, { env: { PLATFORM_URL: fleet.url } })
  const requests = lines.filter(({ line }) => line.startsWith('curl '))
  t.equal(requests.length, 3)
  for (const { line } of requests) {
    const base = line.includes('<PLATFORM_HASH>') ? connected.url : url
    const code = line.replace('http://localhost:3000/api', base).replace('<PLATFORM_HASH>', fleet.hashes[0] as string)
    const { code: exit, out, err } = await runBlock({ name: line, language: 'shell', code })
    t.equal(exit, 0, err)
    t.ok(JSON.parse(out), line)
  }
})

/** What each command says when it works; those that go on serving are ended then. */
const commands: Record<string, { says: RegExp; exit?: number }> = {
  'npm start': { says: /listening on/ },
  'npm run check': { says: /0 to fix/, exit: 0 },
  'npm run keys -- list fleet@example.com': { says: /./, exit: 0 },
  'npm run sandbox -- --port 9000 --devices 200 --latency 50': { says: /http:\/\/127\.0\.0\.1:\d+/ },
  'npm run replay -- fixtures/acme --port 9000': { says: /http:\/\/127\.0\.0\.1:\d+/ },
  'npm run record -- --platform https://tracker.example.com/api --as acme': { says: /http:\/\/127\.0\.0\.1:\d+/ },
}

t.test('every command works as pasted', async (t) => {
  const told = lines.filter(({ line }) => line.startsWith('npm ')).map(({ line }) => line.replace('npm ci && ', ''))
  t.same(told.filter((line) => line !== 'npm test').sort(), Object.keys(commands).sort(), 'each is tried')
  t.ok(scripts.test, 'this is npm test')
  const folder = checkout()
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const away = await platform(t, (_request, response) => response.end('{}'))
  const built = await command(folder, 'npm run build', { says: /^/, exit: 0 })
  t.equal(built.exit, 0, built.said)
  for (const [line, wanted] of Object.entries(commands)) {
    const here = line
      .replace('--port 9000', '--port 0')
      .replace('https://tracker.example.com/api', `${away.url} --port 0`)
    const { said, exit } = await command(folder, here, wanted)
    t.match(said, wanted.says, line)
    if (wanted.exit !== undefined) t.equal(exit, wanted.exit, said)
  }
})

/** The project in a folder of its own, so that building disturbs nobody; built once there, not before each command. */
function checkout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'readme-'))
  for (const name of ['src', 'fixtures', 'tsconfig.json', 'tsconfig.build.json']) {
    cpSync(name, join(folder, name), { recursive: true })
  }
  const kept = Object.entries(scripts).filter(([, body]) => body !== 'npm run --silent build')
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', scripts: Object.fromEntries(kept) }))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Runs a command until it ends, or until it has said what is waited for and would go on. */
function command(
  folder: string,
  line: string,
  { says, exit }: { says: RegExp; exit?: number },
): Promise<{ said: string; exit: number | null }> {
  return new Promise((done) => {
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      PORT: '0',
      OPS_PORT: 'off',
      RECORD_SECRET: 'a secret for tests',
    }
    const child = spawn('bash', ['-c', line], { cwd: folder, detached: true, env })
    let said = ''
    const end = () => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL')
      } catch {} // it has ended by itself
    }
    const timer = setTimeout(end, 120_000)
    const hear = (chunk: Buffer) => {
      said += chunk
      if (exit === undefined && says.test(said)) end()
    }
    child.stdout.on('data', hear)
    child.stderr.on('data', hear)
    child.once('close', (code) => {
      clearTimeout(timer)
      done({ said, exit: code })
    })
  })
}
