/** The parts of an OpenAPI 3.1 document that the gateway creates, as types. */

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }

export interface Response {
  description: string
  headers?: JsonObject
  content?: { [type: string]: { schema: Json; example?: Json; examples?: JsonObject } }
}

/** A response, or a reference to one under `components`. */
export type ResponseOrRef = Response | { $ref: string }

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Json
  example?: Json
}

export interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security?: { [scheme: string]: string[] }[]
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content: { [type: string]: { schema: Json; example?: Json } } }
  responses: { [status: string]: ResponseOrRef }
}

export type PathItem = { [method: string]: Operation }

export interface OpenApi {
  openapi: string
  info: { title: string; version: string; summary: string; description: string; contact: Json; license: Json }
  servers: { url: string; description: string }[]
  tags: { name: string; description: string }[]
  paths: { [path: string]: PathItem }
  webhooks: { [name: string]: PathItem }
  components: {
    securitySchemes: JsonObject
    schemas: { [name: string]: Json }
    responses: { [name: string]: Response }
    headers: JsonObject
  }
}
