/** The program as plain JavaScript, so that tests can start many processes of it without compiling it in each. */
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const sources = join(root, 'src')

/** The folder that stands for `dist`; made once for each state of `src`. Its imports are found as those of `dist` are. */
export function program(): string {
  const digest = createHash('sha256')
  for (const name of readdirSync(sources, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.ts')) digest.update(name).update(readFileSync(join(sources, name)))
  }
  const dir = join(root, '.tap', `program-${digest.digest('hex').slice(0, 16)}`)
  if (existsSync(dir)) return dir
  const made = mkdtempSync(join(root, '.tap', 'making-'))
  transpile(sources, made)
  try {
    renameSync(made, dir)
  } catch {
    // Another test has made it meanwhile.
    rmSync(made, { recursive: true })
  }
  return dir
}

/** Copies a folder with its TypeScript files as JavaScript. */
export function transpile(from: string, to: string): void {
  // Only here: loading the compiler takes as long as most tests.
  const ts: typeof import('typescript') = createRequire(import.meta.url)('typescript')
  cpSync(from, to, { recursive: true })
  const { ESNext } = ts.ModuleKind
  const compilerOptions = { module: ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true }
  for (const name of readdirSync(to, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts')) continue
    const { outputText } = ts.transpileModule(readFileSync(join(to, name), 'utf8'), { compilerOptions })
    writeFileSync(join(to, name.replace(/ts$/, 'js')), outputText)
  }
}

/** Options of `fork` for a file of the program: nothing of the loaders that tests themselves run with. */
export function plainly(env: Record<string, string>) {
  return { env: { ...process.env, NODE_OPTIONS: '', ...env }, execArgv: [], silent: true }
}
