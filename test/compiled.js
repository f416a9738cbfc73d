// Runs the compiled file where tap starts a test: Node 20 cannot run TypeScript.
import { register } from 'node:module'

// Modules of the project and its libraries are read here and not by tap's own loader, which notes each of them for a coverage report
// that nobody asks for: a fifth of the time in which a test file starts.
const hooks = `import { readFileSync } from 'node:fs'
export const resolve = (name, context, next) =>
  next(context.parentURL === undefined ? name.replace(/\\/test\\/(.*)\\.test\\.ts$/, '/build/test/$1.test.js') : name, context)
export const load = (url, { format }, next) =>
  format === 'module' && url.startsWith('file:') ? { format, source: readFileSync(new URL(url)), shortCircuit: true } : next(url)`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)

// A process that a test starts runs without these loaders.
delete process.env.NODE_OPTIONS
process.execArgv = []
