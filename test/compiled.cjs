// Runs the compiled file where tap starts a test: Node 20 cannot run TypeScript.
const Module = require('node:module')

const { runMain } = Module
Module.runMain = (path) => runMain(path.replace(/\/test\/(.*)\.test\.ts$/, '/build/test/$1.test.js'))

// tap would note each module for a coverage report that nobody asks for, in a loader in a thread of its own: 40 % of the processor time
// until a test file has a gateway. Without a loader, and with these notes in place, it does nothing.
Module.register = Module.registerHooks = () => {}
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [], sources: {} }

// A process that a test starts runs without all this.
delete process.env.NODE_OPTIONS
process.execArgv = []
