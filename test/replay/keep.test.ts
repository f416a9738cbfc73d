/** What a recorder does not write: the responses to other accounts, refusals in place of a success, and anything into other folders. */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { format } from '../../src/replay/exchange.js'
import { readFolder } from '../../src/replay/folder.js'
import { type Bodies, platform } from '../helper.js'
import { only } from '../only.js'
import { filesIn, folderOf, recording } from './folders.js'
import { mine, record } from './started.js'

t.test('what the platform refuses replaces no recording, nor does a request without a hash', async (t) => {
  const alerts: RequestListener = ({ url = '' }, response) =>
    void response.writeHead(url.includes('user_api_hash=good') ? 200 : 401).end('{"status":1}')
  const { send, folder, base, lines } = await recording(t, alerts)
  const refused = only('get_alerts: not written: the platform refuses the hash')
  t.match((await send('get_alerts', 'wrong')).lines, refused)
  t.match((await send('get_alerts', 'good')).lines, only(/new, stored$/))
  t.match((await send('get_alerts', 'wrong')).lines, only(/not written: a second hash was sent, or none,/))
  t.equal((await fetch(`${base}/get_alerts`)).status, 401)
  t.match(lines.splice(0), only(/not written: a second hash was sent, or none,/))
  const [alone] = (await readFolder(folder)).exchanges
  t.same(alone?.responses, [{ json: { status: 1 } }])
  const any = ['limit']
  await writeFile(join(folder, 'get_alerts.json'), format({ ...alone, any }))
  t.match((await send('get_alerts', 'good')).lines, only(/: 0 differences, stored$/))
  t.same((await readFolder(folder)).exchanges[0]?.any, any, 'what was written by hand stays')
})

t.test('the account is that of the first hash with a success, however the platform refuses another', async (t) => {
  const refusals = [
    { status: 200, headers: {}, body: '{"status":0,"message":"Wrong hash."}' },
    { status: 302, headers: { location: '/login' }, body: '' },
    { status: 403, headers: {}, body: '{}' },
    { status: 503, headers: {}, body: '<html>' },
  ]
  for (const { status, headers, body } of refusals) {
    const alerts: RequestListener = ({ url = '' }, response) => {
      const isGood = url.includes('user_api_hash=good')
      response.writeHead(isGood ? 200 : status, headers).end(isGood ? '{"status":1}' : body)
    }
    const { send, folder, counts } = await recording(t, alerts)
    const { lines } = await send('get_alerts', 'wrong', { redirect: 'manual' })
    t.match(lines, only(/^get_alerts: not written: the platform (refuses the hash|has accepted no hash yet)$/))
    t.same(await filesIn(folder), [])
    t.match((await send('get_alerts', 'good')).lines, only(/new, stored$/))
    t.same(counts, { stored: 1, rejected: 1 })
  }
})

t.test('no refusal and no failure replaces a recorded success', async (t) => {
  const bodies: Bodies = { '*': [] }
  const { send, folder, counts } = await recording(t, bodies)
  await send('get_devices')
  const page: RequestListener = (_, response) => response.writeHead(200).end('<html>')
  const failures: [body: Bodies[string], status: number][] = [
    ...[401, 403, 404, 429, 503].map((status): [number, number] => [status, status]),
    [{ status: 0, message: 'Wrong hash.' }, 200],
    [page, 200],
  ]
  for (const [failure, status] of failures) {
    bodies.get_devices = bodies.get_alerts = failure
    const line = `get_devices: not written: status ${status} is no success, and the recorded response is one`
    t.match(
      (await send('get_devices')).lines,
      only(new RegExp(`^${line}; to record it, delete .*/get_devices\\.json$`)),
    )
    t.match((await send('get_alerts')).lines, { 0: / stored$/ }, 'one without a recording is stored')
  }
  t.same((await readFolder(folder)).exchanges.find(({ action }) => action === 'get_devices')?.responses, [{ json: [] }])
  t.same(counts, { stored: 2, rejected: failures.length })
  bodies.get_alerts = []
  t.match((await send('get_alerts')).lines, { 0: /differences, stored$/ }, 'a success replaces a failure')
})

t.test('nothing is recorded into an invented folder', async (t) => {
  const folder = mine(t)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'account.json'), format(folderOf([]).manifest))
  const { url, calls } = await platform(t, { '*': [] })
  const refused = { code: 2, text: 'fixtures/mine is invented: record under another name (--as)' }
  t.same(await record(t, url, ['--only', 'get_devices']), refused)
  // Before an invalid port is.
  t.same(await record(t, url, ['--update', '--port', 'x']), refused)
  t.same([calls, await filesIn(folder)], [[], ['account.json']])
})

t.test('nothing is recorded into a folder with the invented values of another secret', async (t) => {
  const folder = mine(t)
  const { url, calls } = await platform(t, { '*': [] })
  const recordWith = (RECORD_SECRET: string, ...args: string[]) => record(t, url, args, { RECORD_SECRET })
  t.match(await recordWith('one', '--only', 'get_devices'), { code: 0 })
  calls.length = 0
  const before = await readFolder(folder)
  const refused = {
    code: 2,
    text: /^fixtures\/mine was recorded with another secret: set RECORD_SECRET as it was set, /,
  }
  const manifest = await readFile(join(folder, 'account.json'), 'utf8')
  for (const secret of ['', 'another']) {
    t.match(await recordWith(secret, '--only', 'get_alerts'), refused)
    t.match(await recordWith(secret, '--update', '--port', 'x'), refused)
  }
  t.same([calls, await readFolder(folder)], [[], before])
  t.match(await recordWith('one', '--only', 'get_alerts'), { code: 0 })
  t.equal(await readFile(join(folder, 'account.json'), 'utf8'), manifest)

  const { send, folder: other } = await recording(t, { '*': [] })
  await mkdir(other)
  await writeFile(join(other, 'account.json'), manifest)
  t.match((await send('get_devices')).lines, only(/^get_devices: not written: \S+ was recorded with another secret/))
  t.same(await filesIn(other), ['account.json'], 'also when the folder is new while a recorder runs')
})
