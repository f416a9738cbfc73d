/** How the platform reports an error in the body of a response (platform.md 1.2). */
import { isObject, read, unwrapped } from './shape.js'

/** The names that the platform uses for errors; `errors` is a list, or lists by field. */
const errorNames: readonly string[] = ['error', 'message', 'errors']

export const isErrorName = (name: string): boolean => errorNames.includes(name)

export const isOff = (flag: unknown): boolean => flag === 0 || flag === '0' || flag === false

export const isStatusZero = (data: unknown): data is Record<string, unknown> => isObject(data) && isOff(data.status)

/** A refusal has a few texts; a response that is all errors would hold the event loop. */
const maxTexts = 1_000

/** The texts under the names of errors, the first ones if there are very many. */
export function textsOf(data: Record<string, unknown>): string[] {
  const texts: string[] = []
  const collect = (value: unknown, depth: number): void => {
    if (texts.length === maxTexts) return
    if (typeof value === 'string') texts.push(value)
    else if (typeof value === 'object' && value !== null && depth < 3) {
      for (const inner of Object.values(value)) collect(inner, depth + 1)
    }
  }
  for (const name of errorNames) collect(data[name], 0)
  return texts
}

/** An empty list, which some platforms report as a failure. */
const noDataText =
  /^\s{0,9}no (?:data|history|records?|results?|positions?|items?|devices?|events?|alerts?|drivers?|services?|geofences?)(?: (?:was|were))?(?: (?:found|available))?\s{0,9}[.!]?$/i

export const isNoData = (text: string): boolean => noDataText.test(text)

/** Whether a response has the text of an error; that there is no data is none. */
export const hasErrorText = (data: Record<string, unknown>): boolean =>
  textsOf(data).some((text) => text.trim() !== '' && !isNoData(text))

const successes = ['1', 'true', '200', 'ok', 'success']
const isOn = (flag: unknown): boolean => successes.includes(String(read('scalar', flag)).toLowerCase())

/** Whether a response says that it has failed, or has the text of an error and does not say that it has succeeded. */
export function reportsError(data: Record<string, unknown>): boolean {
  if (isOff(data.status) || isOff(data.success)) return hasErrorText(data) || textsOf(data).length === 0
  return !isOn(data.status) && !isOn(data.success) && hasErrorText(data)
}

/** Whether a value is a list in one of the platform's spellings, also an empty one. */
export const isList = (raw: unknown): boolean => typeof (unwrapped(raw) ?? 0) === 'object'
