/** The parts of an OpenAPI 3.1 document that the gateway creates, as types. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }

/** The keywords of JSON Schema that the page uses. */
export interface Schema {
  title?: string
  type?: string | string[]
  description?: string
  properties?: { [name: string]: Schema }
  required?: string[]
  items?: Schema
  anyOf?: Schema[]
  enum?: Json[]
  const?: Json
  minimum?: number
  maximum?: number
  default?: Json
}

type Content = { [type: string]: { schema: Schema; example?: Json; examples?: JsonObject } }

export interface Response {
  description: string
  headers?: JsonObject
  content?: Content
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
  example?: Json
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: { [scheme: string]: string[] }[]
  parameters?: Parameter[] | undefined
  requestBody?: { required?: boolean; content: Content } | undefined
  /** All but the success refer to a response under `components`. */
  responses: { 200: Response; [status: string]: Response | { $ref: string } }
}

export type PathItem = { [method: string]: Operation }
