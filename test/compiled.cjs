// Runs the compiled file where tap starts a test: Node 20 cannot run TypeScript.
const hooks = require('node:async_hooks')
const Module = require('node:module')

const { runMain } = Module
Module.runMain = (path) => runMain(path.replace(/\/test\/(.*)\.ts$/, '/build/test/$1.js'))

// tap would note each module for a coverage report that nobody asks for, in a loader in a thread of its own: a seventh of the processor time
// of the tests in `auth`. Without a loader, and with these notes in place, it does nothing.
Module.register = Module.registerHooks = () => {}
globalThis[Symbol.for('@tapjs/processinfo.ProcessInfoNodeData')] = { files: [], sources: {} }

// tap would follow every promise, to find the test that an uncaught error belongs to: a twelfth of it. In one context for all, an uncaught
// error fails the process, with its stack.
hooks.createHook = () => ({ enable() {}, disable() {} })
hooks.executionAsyncId = () => 0

// A process that a test starts runs without all this.
delete process.env.NODE_OPTIONS
process.execArgv = []
