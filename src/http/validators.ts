/** Validates queries and bodies by their schemas, and describes in a sentence what a parameter or field must be. */
import { parse } from 'node:querystring'
import type { TObject } from 'typebox'
import { Compile } from 'typebox/schema'
import { ApiError } from '../errors.js'
import { type Parameter, readQuery, requirement } from '../resources/list.js'

/** A validator for Fastify, which throws the `error` of the result. Paths are left to the routes: a malformed id is a 404, not a 400. */
export function validatorOf({ httpPart, schema }: { httpPart?: string; schema: TObject }) {
  if (httpPart === 'body') return bodyValidator(schema)
  if (httpPart !== 'querystring') return () => true
  return ({ text }: { text: string }) => {
    const result = readQuery(schema, parse(text, '&', '=', { maxKeys: 0 }))
    return 'value' in result ? result : { error: mustBe(result.param, result.expected) }
  }
}

function bodyValidator(schema: TObject) {
  const validator = Compile(schema)
  return (body: unknown): { value: unknown } | { error: ApiError } => {
    // Unknown fields of 16 KiB can take 300 kB.
    const isKnown = ([name]: [string, unknown]): boolean => Object.hasOwn(schema.properties, name)
    if (validator.Check(body)) return { value: Object.fromEntries(Object.entries(body as object).filter(isKnown)) }
    return { error: invalidBody(schema, validator.Errors(body)[1][0]) }
  }
}

type Problem = { instancePath: string; params: object } | undefined

function invalidBody(schema: TObject, problem: Problem): ApiError {
  const { instancePath = '', params = {} } = problem ?? {}
  const [missing] = [(params as { requiredProperties?: string[] }).requiredProperties].flat()
  const param = instancePath.split('/')[1] ?? missing
  const rule = param === undefined ? undefined : (schema.properties[param] as Parameter | undefined)
  if (param === undefined || rule === undefined) {
    return new ApiError('invalid_request', { message: 'The body must be a JSON object.' })
  }
  return mustBe(param, missing === undefined ? expectation(rule) : 'is required')
}

const mustBe = (param: string, expected: string): ApiError =>
  new ApiError('invalid_request', { param, message: `\`${param}\` ${expected}.` })

/** Unlike in a query, a number above the maximum is invalid, a list is one of JSON, and a text may be empty. */
function expectation(rule: Parameter): string {
  if (rule.type === 'integer') return `must be an integer from ${rule.minimum} to ${rule.maximum}`
  if (rule.type === 'array') return `must be a list of 1 to ${rule.maxItems} ids`
  return rule.minLength ? requirement(rule) : `must be text of at most ${rule.maxLength} characters`
}
