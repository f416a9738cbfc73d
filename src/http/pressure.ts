/** Whether the process keeps up: how late the event loop comes to a timer that should ring four times a second. Knows no request. */

const everyMs = 250
/** A ring later than this is late; one late ring is a pause, the second in a row is overload. */
const lateMs = 1_000

export class Pressure {
  readonly #now: () => number
  #due: number
  #lateRings = 0
  #timer: NodeJS.Timeout | undefined

  /** @param now milliseconds that only ever grow. */
  constructor(now: () => number) {
    this.#now = now
    this.#due = now() + everyMs
  }

  /** Begins to watch; the timer keeps no process alive. */
  start(): void {
    this.#timer = setInterval(() => this.ring(), everyMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  ring(): void {
    const now = this.#now()
    this.#lateRings = now - this.#due > lateMs ? this.#lateRings + 1 : 0
    this.#due = now + everyMs
  }

  get isOverloaded(): boolean {
    return this.#lateRings >= 2
  }
}
