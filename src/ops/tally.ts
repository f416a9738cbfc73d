/** How often something ended how, and how long it took: kept here with every request, told when somebody asks. Knows no metric. */

/** What is kept under one name. */
interface Kept {
  /** Seconds of all together. */
  sum: number
  /** How many ended within each bound and not within the one before; the last is for those beyond all bounds. */
  readonly within: number[]
  /** How many came to each outcome since somebody asked. */
  outcomes: Map<string, number>
}

/** One part of a histogram, as Prometheus has it: each bound counts all that are below it. */
export interface Part {
  suffix: '_bucket' | '_sum' | '_count'
  name: string
  le?: number | '+Inf'
  value: number
}

export class Tally {
  readonly #bounds: readonly number[]
  readonly #kept = new Map<string, Kept>()

  /** @param bounds seconds, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
  }

  note(name: string, outcome: string, seconds: number): void {
    const kept = this.#kept.get(name) ?? this.#begin(name)
    kept.sum += seconds
    let at = 0
    while (seconds > (this.#bounds[at] ?? Number.POSITIVE_INFINITY)) at += 1
    kept.within[at] = (kept.within[at] ?? 0) + 1
    kept.outcomes.set(outcome, (kept.outcomes.get(outcome) ?? 0) + 1)
  }

  /** The outcomes since this was last asked; each is told once. */
  takeOutcomes(): { name: string; outcome: string; times: number }[] {
    return [...this.#kept].flatMap(([name, kept]) => {
      const { outcomes } = kept
      kept.outcomes = new Map()
      return [...outcomes].map(([outcome, times]) => ({ name, outcome, times }))
    })
  }

  /** The durations since the beginning. */
  histogram(): Part[] {
    return [...this.#kept].flatMap(([name, { sum, within }]) => {
      let count = 0
      const buckets = within.map((times, at): Part => {
        count += times
        return { suffix: '_bucket', name, le: this.#bounds[at] ?? '+Inf', value: count }
      })
      return [...buckets, { suffix: '_sum', name, value: sum }, { suffix: '_count', name, value: count }]
    })
  }

  #begin(name: string): Kept {
    const kept = { sum: 0, within: Array<number>(this.#bounds.length + 1).fill(0), outcomes: new Map<string, number>() }
    this.#kept.set(name, kept)
    return kept
  }
}
