/** The planned webhook message (spec.md, Events): documented so that integrators can prepare, and never sent today. */
import type { PathItem, Schema } from './openapi.js'

export const plannedTag = 'Webhooks (planned)'

/** All its properties are required unless some are named. */
const object = (
  description: string,
  properties: Record<string, Schema>,
  required = Object.keys(properties),
): Schema => {
  return { type: 'object', description, properties, required }
}
const named = (description: string): Schema =>
  object(description, { id: { type: 'integer', format: 'int64', minimum: 1 }, name: { type: 'string' } })

export const eventNames = [
  'geofence.enter',
  'geofence.exit',
  'speed.exceeded',
  'ignition.on',
  'ignition.off',
  'device.offline',
  'alarm.triggered',
]

const number = { type: 'number', format: 'double' }

const plannedMessage = object(
  'Planned, not available yet: the body of a webhook',
  {
    event: { type: 'string', description: 'Kind of the event', enum: eventNames },
    timestamp: { type: 'string', format: 'date-time', description: 'Time of the event, ISO 8601 in UTC' },
    device: named('The device of the event'),
    geofence: named('The geofence, if the event concerns one'),
    location: object('Position of the event; speed in km/h', { lat: number, lng: number, speed: number }),
  },
  ['event', 'timestamp', 'device'],
)

export const exampleMessage = {
  event: 'geofence.enter',
  timestamp: '2026-05-11T12:03:27Z',
  device: { id: 318, name: 'Van 4' },
  geofence: { id: 27, name: 'Harbour' },
  location: { lat: 48.229171, lng: 16.418624, speed: 12 },
}

export const webhooks: Record<string, PathItem> = {
  fleetEvent: {
    post: {
      operationId: 'plannedFleetEvent',
      summary: 'Planned: the service sends an event to your URL',
      description:
        '**Planned, not available yet.** No webhook can be registered and none is sent today; registration, signing and retries are undecided. Until then poll `GET /v1/events`.',
      tags: [plannedTag],
      security: [],
      requestBody: {
        content: {
          'application/json': { schema: { title: 'PlannedMessage', ...plannedMessage }, example: exampleMessage },
        },
      },
      responses: { 200: { description: 'Your response: the message is accepted' } },
    },
  },
}
