/** Validates a request body by its schema, and says in a sentence what a field must be. */
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { ApiError } from '../errors.js'
import { type Parameter, requirement } from '../resources/list.js'

/** A validator for Fastify, which throws the `error` of the result. */
export function bodyValidator(schema: TSchema) {
  const validator = Compile(schema)
  return (body: unknown): { value: unknown } | { error: ApiError } => {
    if (validator.Check(body)) return { value: body }
    return { error: invalidBody(schema, validator.Errors(body)[1][0]) }
  }
}

type Problem = { instancePath: string; keyword: string; params: object } | undefined

function invalidBody(schema: TSchema, problem: Problem): ApiError {
  const { instancePath = '', keyword = '', params = {} } = problem ?? {}
  const { properties = {} } = schema as { properties?: Record<string, Parameter> }
  const [missing] = [(params as { requiredProperties?: string[] }).requiredProperties].flat()
  const param = instancePath.split('/')[1] ?? missing
  const rule = param === undefined ? undefined : properties[param]
  if (param === undefined || rule === undefined) {
    return new ApiError('invalid_request', { message: 'The body must be a JSON object.' })
  }
  const expected = missing === undefined ? expectation(rule, keyword) : 'is required'
  return new ApiError('invalid_request', { param, message: `\`${param}\` ${expected}.` })
}

/** Unlike in a query, a number above the maximum is invalid, and a list is one of JSON. */
function expectation(rule: Parameter, keyword: string): string {
  if (rule.type === 'integer') return `must be an integer from ${rule.minimum} to ${rule.maximum}`
  if (rule.type === 'array') return `must be a list of 1 to ${rule.maxItems} ids`
  return `${requirement(rule)}${keyword === 'pattern' ? ' without control characters' : ''}`
}
