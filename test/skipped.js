// tap runs this after the tests, also after failures: prints which were skipped, and what to install for them.
import { spawnSync } from 'node:child_process'

const env = { PATH: `${process.env.PATH}:/usr/sbin` }
const isInstalled = (program) => spawnSync('/bin/sh', ['-c', `command -v ${program}`], { env }).status === 0

/** Each needs any one of its programs. */
const parts = [
  { programs: ['redis-server'], packages: 'redis-server', tests: 'everything about Redis' },
  {
    programs: ['chromium', 'chromium-headless-shell', 'chromium-browser', 'google-chrome'],
    packages: 'chromium',
    tests: 'the reference in a browser',
  },
  { programs: ['wrk'], packages: 'wrk', tests: 'the benchmark' },
  { programs: ['promtool'], packages: 'prometheus', tests: 'metrics and alert rules' },
  { programs: ['nginx'], packages: 'nginx-light', tests: 'the benchmark, and the nginx of the README' },
]
const missing = parts.filter(({ programs }) => !programs.some(isInstalled))
const lines = missing.map(({ programs, tests }) => `SKIPPED: ${tests}, because ${programs[0]} is not installed.`)
if (missing.length > 0) lines.push(`Install: apt-get install ${missing.map(({ packages }) => packages).join(' ')}`)
for (const line of lines) process.stdout.write(`${line}\n`)
