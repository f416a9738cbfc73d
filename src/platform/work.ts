/** What is to be made of large answers as they arrive, and by whom. Knows no transport and no field of any action. */

import type { OnRow } from '../lib/json-rows/projector.js'
import type { Action } from './actions.js'
import type { Digest } from './digest.js'

/** Past this many bytes kept an answer is given up. */
export const mostKept = 64 * 1024 * 1024

/** What is made of one answer. */
export interface Work {
  onRow: OnRow
  /** What came of all of it; none where the answer is better judged as it is. */
  finish(data: unknown): Digest | { projected: unknown }
}

/** The work for one answer; `context` is what the main thread said with it. */
export type Begin = (action: Action, context: unknown) => Work
