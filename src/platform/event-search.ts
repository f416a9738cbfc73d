/** A search for events: the platform's filters, and what it may use. */
import type { List } from './client.js'
import type { CallBudget } from './window.js'

/** Filters of an event list; times are the account's wall clock, `YYYY-MM-DD HH:MM:SS`. */
export interface EventFilter {
  deviceId: number | undefined
  type: string | undefined
  from: string | undefined
  to: string | undefined
}

/** What one search for events may use. */
export interface Search extends List {
  budget: CallBudget
}
