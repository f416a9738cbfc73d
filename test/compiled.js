// Runs the compiled file where tap starts a test: Node 20 cannot run TypeScript.
import { register } from 'node:module'

const hooks = `export const resolve = (name, context, next) =>
  next(context.parentURL === undefined ? name.replace(/\\/test\\/(.*)\\.test\\.ts$/, '/build/test/$1.test.js') : name, context)`

register(`data:text/javascript,${encodeURIComponent(hooks)}`)
