/** Prism, which validates every request and response against the document, in front of a gateway on the sandbox. */
import { spawn } from 'node:child_process'
import t, { type Test } from 'tap'
import type { Response as Documented } from '../../src/reference/openapi.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { createKey } from '../limits.js'
import { freePort } from '../redis.js'
import { type Block, blocksOf, runBlock } from './blocks.js'
import { committed, documentPath, publicUrl } from './committed.js'

/** `prism proxy --errors`: a violation of the document becomes an error response. @returns its URL. */
async function prism(t: Test, upstream: string): Promise<string> {
  const port = await freePort()
  const words = ['proxy', documentPath, upstream, '--errors', `--port=${port}`]
  const child = spawn(process.execPath, ['node_modules/.bin/prism', ...words])
  t.teardown(() => child.kill())
  let output = ''
  await new Promise<void>((listening, failed) => {
    child.stdout.on('data', (chunk) => {
      output += chunk
      if (output.includes('is listening')) listening()
    })
    child.once('close', () => failed(new Error(`prism ended: ${output}`)))
  })
  return `http://127.0.0.1:${port}`
}

const bodyAndHeaders = '{ ...(await response.json()), headers: [...response.headers.keys()] }'
const printJson: Record<'javascript' | 'python', [shown: string, printed: string]> = {
  javascript: ['response.status, await response.json()', `JSON.stringify(${bodyAndHeaders})`],
  python: ['response.status, json.load(response)', 'json.dumps(json.load(response))'],
}

/** The blocks of one language as one program, which prints a line for each: a process for each would take long. */
const joined: Record<string, (codes: string[]) => string> = {
  shell: (codes) => codes.map((code) => `${code}\necho\n`).join(''),
  javascript: (codes) => codes.map((code) => `{\n${code.replace(...printJson.javascript)}\n}\n`).join(''),
  python: (codes) => codes.map((code) => `${code.replace(...printJson.python)}\n`).join(''),
}

t.test(
  'the code of every operation passes a validating proxy and returns the documented headers and body',
  async (t) => {
    const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })
    const proxy = await prism(t, url)
    const blocks = await blocksOf(url, proxy)
    const operations = Object.values((await committed()).paths).flatMap((item) => Object.values(item))
    const hash = sandboxAccounts()[0]?.hash as string
    const rare = ['X-Api-Key-Expires', 'Cache-Status']
    for (const [language, join] of Object.entries(joined)) {
      const { body: key } = await createKey(get, { platform_hash: hash })
      const codes = operations.map(({ operationId }) =>
        (blocks.get(`${operationId}-${language}`) as Block).code
          .replaceAll('<PLATFORM_HASH>', hash)
          .replace(/keys\/[\w-]{36}/, `keys/${key.id}`),
      )
      const { code, out, err } = await runBlock({ name: language, language, code: join(codes) })
      t.equal(code, 0, `${language}: ${err}`)
      const lines = out.trim().split('\n')
      t.equal(lines.length, operations.length, 'one response for each operation')
      for (const [at, { operationId, responses }] of operations.entries()) {
        const { headers: sent, ...body } = JSON.parse(lines[at] as string)
        const shown = JSON.parse(blocks.get(`${operationId}-response`)?.code as string)
        t.same(Object.keys(body), Object.keys(shown), `${operationId} in ${language}`)
        const documented = Object.keys((responses['200'] as Documented).headers ?? {})
        if (sent === undefined) continue
        const missing = documented.filter((name) => !rare.includes(name) && !sent.includes(name.toLowerCase()))
        t.same(missing, [], `${operationId} carries its headers`)
      }
    }
    const wrong = await fetch(`${proxy}/v1/devices?status=parked`, { headers: { authorization: 'Bearer demo' } })
    t.equal(wrong.status, 422, 'the proxy does validate')
  },
)
