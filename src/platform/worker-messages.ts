/** The messages between the main thread and the worker that sends long requests and reads their responses. */
import type { TextArena } from '../lib/text-arena.js'
import type { Failure } from './errors.js'
import type { WireSetup } from './wire.js'

/** The parameters of a request beside the account's hash. */
export interface JobParams {
  /**
   * All devices of the account, or, with `id`, one of them (`FleetColumns.ignoresId`). `now`: Unix milliseconds, on which the status of a
   * device depends; `clock`: the account's setup, if its Unix times are its wall clock and have to be corrected.
   */
  get_devices: { id: number | undefined; now: number; clock?: WireSetup | undefined }
  /** `setup`: for the account's zone and units, undefined if the platform does not send it. */
  get_history: HistoryRequest & { setup: WireSetup | undefined }
}

/** Whole days of the account's clock, `YYYY-MM-DD`, both included, and what the response shows of them. */
export interface HistoryRequest {
  deviceId: number
  from: string
  to: string
  positions: boolean
  format: 'json' | 'geojson'
}

export type JobAction = keyof JobParams

export interface JobResults {
  get_devices: FleetColumns
  /** `json`: the history as the API documents it, serialized. */
  get_history: { json: Uint8Array; skippedRows: number }
}

/** The devices of an account as columns, ordered by id; every column has one entry per device. */
export interface FleetColumns {
  ids: Float64Array
  /** The rows as compact text, by the shape `wireDevice`. */
  rows: TextArena
  /** Group titles, and the index of each device's title. */
  groups: (string | undefined)[]
  groupOf: Uint32Array
  /** Status and flags (`devices/fleet.ts`). */
  flags: Uint8Array
  /** Driver ids; 0 for none. */
  drivers: Float64Array
  /** Unix seconds of each device's last fix or sign of life, whichever is later; 0 if never. */
  updated: Float64Array
  /** Unix milliseconds at which the statuses hold. */
  now: number
  /** Number of devices by the minutes that their last data is ahead of `now`; 0 minutes for a connected device with correct times. */
  ahead: [minutes: number, devices: number][]
  /** Groups that cannot be read, and items that are no records, have no id or are too large. */
  skippedRows: number
  /** State words that the gateway does not know, with the number of rows that have them. */
  unknownStates: [word: string, rows: number][]
  /** Whether the platform ignores `id`, so that only the whole list can show the requested device. */
  ignoresId: boolean
}

export interface Job<A extends JobAction = JobAction> {
  readonly action: A
  /** The platform's API base. */
  readonly url: string
  readonly hash: string
  /** Owner of the memory that the response takes: `Requester.id`. */
  readonly owner: string
  readonly params: JobParams[A]
}

export type ToWorker = { kind: 'start'; id: number; job: Job } | { kind: 'cancel'; id: number }

/** How a job ended. */
export type JobEnd = { kind: 'result'; result: JobResults[JobAction] } | { kind: 'failure'; failure: Failure }

export type FromWorker = { kind: 'ready' } | (JobEnd & { id: number })
