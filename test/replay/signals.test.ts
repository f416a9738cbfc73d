/** Signals to `replay --gateway`, which has started the gateway as a process of its own. */
import { join } from 'node:path'
import t from 'tap'
import { runReplay } from '../../src/replay/commands.js'
import { GatewayProcess } from '../process.js'
import { program } from '../program.js'
import { acme } from './started.js'

t.test('replay --gateway forwards every signal: the second one ends the gateway at once', async (t) => {
  const env = { DATA_DIR: join(t.testdir({}), 'data') }
  const child = await new GatewayProcess(t, ['replay', acme, '--gateway', '--port', '0'], env).ready()
  child.signal('SIGTERM')
  await child.printed(/"closing"/)
  child.signal('SIGTERM')
  t.equal(await child.exited, 1)
  t.notMatch(child.log, /"closed"/, 'it does not drain')
})

t.test('replay --gateway listens for signals before it starts the gateway, which would go on without it', async (t) => {
  const isEarly: boolean[] = []
  const ended = async () => {
    isEarly.push(!process.getActiveResourcesInfo().includes('ProcessWrap'))
    return isEarly.length === 1 ? ('SIGKILL' as const) : new Promise<NodeJS.Signals>(() => {})
  }
  const io = { env: {}, console: { log() {}, error() {} }, ended, main: program('main.js') }
  t.equal(await runReplay('replay', [acme, '--gateway', '--port', '0'], io), 1)
  t.ok(isEarly[0])
})
