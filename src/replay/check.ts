/** The check of a recording: whether the responses of the platform still have the recorded shape. */
import { drift } from './drift.js'
import { type Exchange, fileNameOf, type RecordedResponse } from './exchange.js'
import type { Folder } from './folder.js'
import type { Pseudonyms } from './pseudonym.js'
import { responseOf, sendAs, validateHash } from './requests.js'
import { isAddressLookup, withIds } from './scrub.js'

/**
 * Repeats all recorded requests except address lookups, whose positions are invented. Logs how the shape of the responses has changed, and
 * a summary.
 * @param pseudonyms of the recording, which reveal the real ids; undefined without its secret.
 * @returns whether nothing is gone and no kind has changed; new fields are logged and are no failure.
 * @throws Error when the platform cannot be reached or rejects the hash, or the real ids are needed and unknown.
 */
export async function check(
  platform: string,
  folder: Folder,
  hash: string,
  log: (line: string) => void,
  pseudonyms?: Pseudonyms,
): Promise<boolean> {
  const { origin, fingerprint } = folder.manifest
  const hasIds = (exchange: Exchange): boolean => fileNameOf(withIds(exchange, () => 0)) !== fileNameOf(exchange)
  const isRevealed = fingerprint !== undefined && fingerprint === pseudonyms?.fingerprint
  if (!isRevealed && origin === 'recorded' && folder.exchanges.some(hasIds))
    throw new Error(
      'the ids in this recording are invented: set RECORD_SECRET as it was set for the recording, or record again with one',
    )
  const originalId = (id: number): number => (origin === 'recorded' && pseudonyms?.originalId(id)) || id
  await validateHash(platform, hash)
  let changed = 0
  const exchanges = folder.exchanges.filter(({ action }) => !isAddressLookup(action))
  for (const exchange of exchanges) {
    const recorded = exchange.responses.at(-1) ?? {}
    const file = fileNameOf(exchange)
    const response = await sendAs(hash, platform, withIds(exchange, originalId)).catch(() => undefined)
    const live = response && responseOf(response)
    const isSameKind = live !== undefined && kindOf(live) === kindOf(recorded)
    if (!isSameKind) log(`${file}: was ${kindOf(recorded)}, is ${live === undefined ? 'no response' : kindOf(live)}`)
    const drifts = isSameKind ? drift(recorded.json, live.json) : []
    for (const { path, what, was, is } of drifts) {
      log(`${file}: ${path} ${what}${was && `, was ${was}`}${is && `, is ${is}`}`)
    }
    if (!isSameKind || drifts.some(({ what }) => what !== 'new')) changed++
  }
  const count = `${exchanges.length} exchanges checked`
  log(changed === 0 ? `${count}: all have their recorded shape` : `${count}: ${changed} have changed`)
  return changed === 0
}

const kindOf = ({ status = 200, json, html }: RecordedResponse): string =>
  `status ${status} with ${json !== undefined ? 'JSON' : html !== undefined ? 'a page' : 'other text'}`
