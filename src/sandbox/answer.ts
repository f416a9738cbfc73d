/** Pure: what an action answers, and the refusals that several share. */

export type Query = Record<string, string | undefined>
export type Answer = { status: number; body: unknown }

export const ok = (body: unknown): Answer => ({ status: 200, body })

export function refuse(field: string, text: string): Answer {
  return { status: 400, body: { status: 0, errors: { [field]: [text] } } }
}

/** A whole number above 0 from a query, as forgiving as the platform. */
export function whole(text: string | undefined, otherwise: number): number {
  return Math.max(1, Number.parseInt(text ?? '', 10) || otherwise)
}
