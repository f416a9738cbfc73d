/** The program as plain JavaScript, so that tests can start many processes of it without compiling it in each. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'

const root = fileURLToPath(new URL('..', import.meta.url))
let made: string | undefined

/** The folder that stands for `dist`; made once per test file and gone with its process. Its imports are found as those of `dist` are. */
export function program(): string {
  if (made !== undefined) return made
  const dir = mkdtempSync(join(root, '.tap', 'program-'))
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
  transpile(join(root, 'src'), dir)
  made = dir
  return dir
}

/** Copies a folder with its TypeScript files as JavaScript. */
export function transpile(from: string, to: string): void {
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
