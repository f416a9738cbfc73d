/** A device list that is not in memory, beside the same platform called directly. */
import { type Bench, bodyOf, hashOf, pageOf50, platformList } from './bench.js'
import { actAll, paced } from './load.js'
import { inRounds, middle, spread, type Table } from './table.js'

const perSecond = 50
/** So many that no list is in memory when its account's turn comes again. */
const accounts = Array.from({ length: 200 }, (_, account) => hashOf(50, account))
/**
 * Lists that each server has sent before it is measured, several at a time, as the measured ones may overlap. Until then V8 compiles on the
 * measured core, which costs up to 1 ms a list.
 */
const warmUp = 5_000

export async function coldList({ platform, gateway, builds, rounds, seconds, isQuick }: Bench): Promise<Table[]> {
  const hashAt = (index: number): string => accounts[index % accounts.length] ?? ''
  const direct = (index: number) => bodyOf(platform.url + platformList(hashAt(index)))
  const entries = [{ name: 'the platform itself', read: direct }]
  for (const build of builds) {
    const { url } = await gateway({ POSITION_TTL_MS: '1', ACCOUNT_TTL_MS: '3600000' }, build)
    entries.push({ name: `${build.label}gateway`, read: (index) => bodyOf(url + pageOf50, hashAt(index)) })
  }
  const before = isQuick ? accounts.length : warmUp
  for (const { read } of entries) await actAll(before, read)
  const measured = await inRounds(rounds, entries, ({ read }) => paced(read, perSecond, 4 * seconds))
  const own = measured[0]?.[1] ?? []
  const rows = measured.map(([{ name }, loads]) => ({
    name,
    'p50 ms': middle(loads, ({ p50 }) => p50),
    'p95 ms': middle(loads, ({ p95 }) => p95),
    'p50 above': middle(loads, ({ p50 }, round) => p50 - (own[round]?.p50 ?? p50)),
    'p95 above': middle(loads, ({ p95 }, round) => p95 - (own[round]?.p95 ?? p95)),
    'spread %': spread(loads.map(({ p50 }) => p50)),
  }))
  const subject = `A list of 50 devices that is not in memory, ${perSecond} a second`
  const note = `"above" is the time beyond that of the platform itself in the same round, ms. Each has sent ${before} lists before.`
  const compared = ['p50 above', 'p95 above']
  return [{ subject, note, compared, rows, floorSpread: spread(own.map(({ p50 }) => p50)) }]
}
