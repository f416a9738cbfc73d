// tap runs this before the tests: builds the program, and compiles it and its tests file by file to `build`, once for all test processes.
import { execSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'

execSync('npm run --silent build && npm run --silent compile', { stdio: ['ignore', 2, 2] })

// typebox has 500 files. Loading them one by one in every process was a quarter of the processor time of all tests.
const entries = { index: 'typebox', schema: 'typebox/schema', compile: 'typebox/compile' }
buildSync({
  entryPoints: Object.entries(entries).map(([out, name]) => ({ in: fileURLToPath(import.meta.resolve(name)), out })),
  outdir: 'build/node_modules/typebox',
  bundle: true,
  splitting: true,
  format: 'esm',
})
const exports = { '.': './index.js', './*': './*.js' }
writeFileSync('build/node_modules/typebox/package.json', JSON.stringify({ type: 'module', exports }))
