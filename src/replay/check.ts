/** The check of a recording: whether the responses of the platform still have the recorded shape. */
import { drift } from './drift.js'
import { type Exchange, fileNameOf, type RecordedResponse } from './exchange.js'
import type { Folder } from './folder.js'
import type { Pseudonyms } from './pseudonym.js'
import { wildcard } from './replay.js'
import { isRefusal, responseOf, sendAs, validateHash } from './requests.js'
import { isAddressLookup, withIds } from './scrub.js'

/**
 * Repeats all recorded requests except address lookups, whose positions are invented, and those with `*` for a value. Logs how the shape of
 * the responses has changed, and a summary.
 * @param pseudonyms of the recording, which reveal the real ids; undefined without its secret.
 * @returns whether nothing is gone and no kind has changed; new fields are logged and are no failure.
 * @throws Error when the platform cannot be reached or rejects the hash, the real ids are needed and unknown, or no request is left.
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
  const repeated = folder.exchanges.filter(
    ({ action, query }) => !isAddressLookup(action) && wildcardsIn(query).length === 0,
  )
  if (repeated.length === 0) throw new Error(`${folder.name} has no exchange to check`)
  await validateHash(platform, hash)
  for (const exchange of folder.exchanges)
    for (const name of wildcardsIn(exchange.query))
      log(`${fileNameOf(exchange)}: not checked: no value is recorded for ${name}`)
  let changed = 0
  for (const exchange of repeated) {
    const response = await sendAs(hash, platform, withIds(exchange, originalId)).catch(() => undefined)
    const { isChanged, lines } = changeOf(exchange.responses, response && responseOf(response))
    for (const line of lines) log(`${fileNameOf(exchange)}: ${line}`)
    if (isChanged) changed++
  }
  const count = `${repeated.length} exchanges checked`
  log(changed === 0 ? `${count}: all have their recorded shape` : `${count}: ${changed} have changed`)
  return changed === 0
}

const wildcardsIn = (query: Exchange['query']): string[] =>
  Object.keys(query).filter((name) => query[name] === wildcard)

/** Compares a response with the recorded one that comes nearest. */
function changeOf(recorded: readonly RecordedResponse[], live: RecordedResponse | undefined) {
  const changes = recorded.map((one) => {
    if (live === undefined || kindOf(live) !== kindOf(one)) {
      const is = live === undefined ? 'no response' : kindOf(live)
      return { isKind: false, isChanged: true, lines: [`was ${kindOf(one)}, is ${is}`] }
    }
    const drifts = drift(one.json, live.json)
    const lines = drifts.map(
      ({ path, what, was, is }) => `${path} ${what}${was && `, was ${was}`}${is && `, is ${is}`}`,
    )
    return { isKind: true, isChanged: drifts.some(({ what }) => what !== 'new'), lines }
  })
  const [first = { isChanged: true, lines: [] }] = changes
  return changes.find(({ isChanged }) => !isChanged) ?? changes.find(({ isKind }) => isKind) ?? first
}

function kindOf(response: RecordedResponse): string {
  const { status = 200, json, html } = response
  const body = json === undefined ? (html === undefined ? 'other text' : 'a page') : json === null ? 'null' : 'JSON'
  return `status ${status} with ${status === 200 && isRefusal(response) ? 'a refusal' : body}`
}
