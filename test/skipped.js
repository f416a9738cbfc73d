// Runs after `npm test`: prints which tests were skipped because a program is not installed, and how to install it.
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
const isInstalled = (program) =>
  folders.some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

/** Each needs any one of its programs. */
const parts = [
  { programs: ['redis-server'], packages: 'redis-server', tests: 'everything about Redis' },
  {
    programs: ['chromium', 'chromium-browser', 'google-chrome'],
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
