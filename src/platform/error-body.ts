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

/** Whether a response says that it has failed, or has the text of an error and does not say that it has succeeded. */
export function reportsError(data: Record<string, unknown>): boolean {
  if (isOff(data.status) || isOff(data.success)) return true
  const hasSucceeded = ['1', 'true'].includes(String(read('scalar', data.status)))
  return !hasSucceeded && textsOf(data).some((text) => text.trim() !== '')
}

/** Whether a value is a list in one of the platform's spellings, also an empty one. */
export const isList = (raw: unknown): boolean => typeof (unwrapped(raw) ?? 0) === 'object'
