// tap runs this before the tests: builds the program, and compiles it and its tests file by file to `build`, once for all test processes.
import { execSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { buildSync } from 'esbuild'

execSync('npm run --silent build && npm run --silent compile', { stdio: ['ignore', 2, 2] })

// What most test processes load. Loading these packages file by file in each of them was a tenth of the processor time of all tests.
const packages = {
  '@fastify/swagger': ['.'],
  'close-with-grace': ['.'],
  'env-schema': ['.'],
  'fast-check': ['.'],
  fastify: ['.'],
  ioredis: ['.'],
  'lru-cache': ['.'],
  luxon: ['.'],
  pino: ['.'],
  'prom-client': ['.'],
  tap: ['.'],
  typebox: ['.', './compile', './schema'],
  undici: ['.', './lib/api/api-request.js', './lib/dispatcher/client.js', './lib/dispatcher/pool.js'],
}

const write = (path, text) => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

/** Writes what exports the same as a part of a package, and is bundled in its place. @returns its path. */
async function entry(name, part) {
  const module = name + part.slice(1)
  const names = Object.keys(await import(module)).filter((one) => /^\w+$/.test(one))
  const path = `build/bundled/${name}/${part === '.' ? 'index' : part}.mjs`
  write(path, `export { ${names} } from '${module}'`)
  return path
}

const entries = Object.entries(packages).flatMap(([name, parts]) => parts.map((part) => entry(name, part)))
buildSync({
  entryPoints: await Promise.all(entries),
  outbase: 'build/bundled',
  outdir: 'build/node_modules',
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  minifyWhitespace: true,
  banner: { js: 'import{createRequire as requireOf}from"node:module";const require=requireOf(import.meta.url);' },
})
for (const [name, parts] of Object.entries(packages)) {
  const file = (part) => (part === '.' ? './index.mjs' : `${part}.mjs`)
  const exports = Object.fromEntries(parts.map((part) => [part, file(part)]))
  write(`build/node_modules/${name}/package.json`, JSON.stringify({ exports }))
}
