/** What to keep of the answers that can be large, per action; knows the fields of answers, and nothing of bytes. */

import { Plan, type Wanted } from '../lib/json-rows/projector-plan.js'
import type { Action } from './actions.js'
import { wireDevice, wireGroup, wireHistory, wirePoint } from './wire.js'

const s = 'scalar' as const

/** Where `pageOf` finds its numbers. */
const paginator = { total: s, per_page: s, current_page: s, last_page: s } as const

/** What a refusal is told by; an answer of this size hardly is one. */
const refusal: Wanted = { status: s, error: 'all', message: 'all', errors: 'all' }

/** With each, `failureOfData`, `pageOf` and `read` say of the kept part what they say of the whole answer. */
export const plans: { readonly [action in Action]?: Plan } = {
  get_devices: new Plan(
    [
      [wireGroup],
      refusal,
      { items: [wireGroup], data: [wireGroup], ...paginator, pagination: paginator },
      { items: { data: [wireGroup], ...paginator } },
    ],
    [wireDevice],
  ),
  get_history: new Plan([wireHistory, refusal], [wirePoint]),
}
