/** Folders of their own for tests; each ends with its test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** An empty folder. Unlike that of `t.testdir`, every call has another one. */
export function temporaryFolder(t: { teardown(end: () => unknown): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
