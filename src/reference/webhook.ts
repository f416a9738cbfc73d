/** The planned push message (spec.md, Events): described so that integrators can prepare, sent by nobody. */
import type { JsonObject, PathItem } from './openapi.js'

export const plannedTag = 'Webhooks (planned)'

const named = (description: string): JsonObject => ({
  type: 'object',
  description,
  properties: { id: { type: 'integer', minimum: 1 }, name: { type: 'string' } },
  required: ['id', 'name'],
})

export const PlannedMessage: JsonObject = {
  type: 'object',
  description: 'Planned, not delivered: what a push message will look like',
  properties: {
    event: {
      type: 'string',
      description: 'What happened',
      enum: [
        'geofence.enter',
        'geofence.exit',
        'speed.exceeded',
        'ignition.on',
        'ignition.off',
        'device.offline',
        'alarm.triggered',
      ],
    },
    timestamp: { type: 'string', format: 'date-time', description: 'When it happened, ISO 8601 in UTC' },
    device: named('The device it happened to'),
    geofence: named('The geofence, where the event is about one'),
    location: {
      type: 'object',
      description: 'Where it happened; speed in km/h',
      properties: { lat: { type: 'number' }, lng: { type: 'number' }, speed: { type: 'number' } },
      required: ['lat', 'lng', 'speed'],
    },
  },
  required: ['event', 'timestamp', 'device'],
}

export const webhooks: Record<string, PathItem> = {
  fleetEvent: {
    post: {
      operationId: 'plannedFleetEvent',
      summary: 'Planned: an event is pushed to you',
      description:
        '**Planned and not delivered.** No webhook can be registered and none is sent today; signing, retries and registration are not settled. Until then poll `GET /v1/events`.',
      tags: [plannedTag],
      security: [],
      requestBody: {
        content: {
          'application/json': {
            schema: { $ref: '#/components/schemas/PlannedMessage' },
            example: {
              event: 'geofence.enter',
              timestamp: '2026-05-11T12:03:27Z',
              device: { id: 318, name: 'Van 4' },
              geofence: { id: 27, name: 'Harbour' },
              location: { lat: 48.229171, lng: 16.418624, speed: 12 },
            },
          },
        },
      },
      responses: { '200': { description: 'Your answer: the message was taken' } },
    },
  },
}
