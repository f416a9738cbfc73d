/** What was made of a large answer as it arrived. */
import type { Transferable } from 'node:worker_threads'

/** Opaque to all but those who gave the work. */
export class Digest {
  readonly value: unknown
  /** Rows that were no records and were left out. */
  readonly skipped: number
  /** What of the value may be handed to another thread instead of copied. */
  readonly transfer: Transferable[]

  constructor(value: unknown, skipped: number, transfer: Transferable[] = []) {
    this.value = value
    this.skipped = skipped
    this.transfer = transfer
  }
}
