/** Turns status, headers and body of a platform response into data or one of three failures (platform.md 1.2). */
import { parsedJson } from '../lib/parsed-json.js'
import { type Action, isResponseTo, type PlatformQuery, type Query } from './actions.js'
import { fieldsOf } from './changed.js'
import { hasErrorText, isErrorName, isNoData, isOff, isStatusZero, textsOf } from './error-body.js'
import { type FailedOutcome, failure, loginRedirect, type PlatformError } from './errors.js'
import { isObject, itemsOf, read } from './shape.js'

const authenticationText = /hash|auth|login|credential|unauthor|log ?in|token/i
/** Accounts and devices can both expire or be blocked; a response about one device may not say which of the two has. */
const lapsedText = /deactiv|blocked|expired/i
const accountText = /account|user|subscription/i
const isOfDevice = (query: Query): boolean => query.id !== undefined || query.device_id !== undefined
const loginPath = /\/(login|authentication)\b/

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Whether the status is a refusal, by the platform or by something in front of it: the body shows by which. */
export const mayRefuse = (status: number): boolean => status === 401 || status === 403 || status === 419

/** The failure of a response without a success status. */
export function failureOfStatus(
  action: Action,
  { status, location, body }: { status: number; location: string | undefined; body: string | undefined },
): PlatformError {
  const failed = (reason: FailedOutcome): PlatformError => failure(action, reason, `status ${status}`)
  if (mayRefuse(status)) {
    if (!isRefusal(body)) return failed('foreign_refusal')
    return status === 403 ? failure(action, 'forbidden') : failed('refused')
  }
  if (status >= 300 && status < 400)
    return isLogin(location) ? failure(action, 'refused', loginRedirect) : failed('redirect')
  if (status === 404 || status === 405) return failed('missing_action')
  if (status === 429) return failed('rate_limited')
  return failed(status >= 400 && status < 500 ? 'rejected' : 'server_error')
}

/** Whether a redirect leads to a login page: by its path, since a host or a query may hold such a word by chance. */
function isLogin(location = ''): boolean {
  const base = 'http://platform'
  return URL.canParse(location, base) && loginPath.test(new URL(location, base).pathname)
}

/** The data in the body of a response with a success status. @throws as `checked`, also for a body that is not JSON. */
export function dataOf(request: PlatformQuery, body: string): unknown {
  const { action } = request
  if (/^\s*</.test(body)) throw failure(action, 'html')
  const data = parsedJson(body)
  // A SyntaxError quotes the body, which may hold personal data; the length is safe to log.
  if (data === undefined) throw failure(action, 'bad_json', `${body.length} characters`)
  return checked(request, data)
}

/** Proxies refuse with a page or an empty body, the platform with JSON that says why. */
function isRefusal(body = ''): boolean {
  const data = parsedJson(body)
  return isObject(data) && textsOf(data).some((text) => text.trim() !== '')
}

/** The data of a body with a success status. @throws for a refusal, a deactivated account, or a response to something else. */
export function checked({ action, query }: PlatformQuery, data: unknown): unknown {
  if (isAccountAction(action) && isDeactivated(data)) throw failure(action, 'refused', 'account deactivated')
  const texts = isStatusZero(data) ? textsOf(data) : []
  const isLapsed = (text: string): boolean => lapsedText.test(text) && (!isOfDevice(query) || accountText.test(text))
  const isRefused = texts.some((text) => authenticationText.test(text) || isLapsed(text))
  // The text of an error decides over an empty list beside it, but not over rows or an e-mail.
  const hasFailed = isStatusZero(data) && hasErrorText(data) && !isAccountAction(action) && isEmpty(data)
  if (isResponseTo(action, data) && !hasFailed) return data
  // A 404 that a proxy has turned into a success (platform.md 1.3).
  if (isObject(data) && String(read('scalar', data.statusCode)) === '404') throw failure(action, 'missing_action')
  if (!isStatusZero(data)) throw failure(action, 'wrong_shape', fieldsOf(data))
  if (action === 'get_history' && texts.some(isNoData)) return data
  throw isRefused ? failure(action, 'refused', 'status 0 with an authentication text') : failure(action, 'status_0')
}

/** Whether a response has no rows. Rows are at most three levels deep: `items.drivers.data`. */
function isEmpty(raw: unknown, depth = 0): boolean {
  if (itemsOf(raw).length > 0) return false
  if (!isObject(raw) || depth === 3) return true
  return Object.entries(raw).every(([name, inner]) => isErrorName(name) || isEmpty(inner, depth + 1))
}

const accountActions: readonly Action[] = ['get_user_data', 'edit_setup_data', 'call_actions/event_types']

/** Whether the response is kept with the account. */
export const isAccountAction = (action: Action): boolean => accountActions.includes(action)

const isDeactivated = (data: unknown): boolean =>
  isObject(data) && [data, data.item].some((record) => isObject(record) && isOff(record.active))
