// tap runs this before the tests: builds the program, and compiles it and its tests file by file to `build`, once for all test processes.
import { execSync } from 'node:child_process'

execSync('npm run --silent build && npm run --silent compile', { stdio: ['ignore', 2, 2] })
