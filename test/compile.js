// tap runs this before the tests: compiles the program and its tests to `build`, once for all test processes.
import { execSync } from 'node:child_process'

// The options with which tap runs tests would slow npm down.
execSync('npm run --silent compile', { stdio: ['ignore', 2, 2], env: { ...process.env, NODE_OPTIONS: '' } })
