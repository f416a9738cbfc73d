/** The planned webhook message (spec.md, Events): documented so that integrators can prepare, and never sent today. */
import { Type } from 'typebox'
import { Double, field, Integer, Resource, Word, withExample } from '../resources/schema.js'
import type { JsonObject, PathItem, Schema } from './openapi.js'

export const plannedTag = 'Webhooks (planned)'

export const eventNames = [
  'geofence.enter',
  'geofence.exit',
  'speed.exceeded',
  'ignition.on',
  'ignition.off',
  'device.offline',
  'alarm.triggered',
] as const

const named = (description: string, id: number, name: string) =>
  Type.Object({ id: withExample(Integer({ minimum: 1 }), id), name: withExample(Type.String(), name) }, { description })
const number = (example: number) => withExample(Double(), example)

const PlannedMessage = Resource('PlannedMessage', 'Planned, not available yet: the body of a webhook', {
  event: Word(eventNames, { description: 'Kind of the event', example: 'geofence.enter' }),
  timestamp: field.text('Time of the event, ISO 8601 in UTC', '2026-05-11T12:03:27Z', { format: 'date-time' }),
  device: named('The device of the event', 318, 'Van 4'),
  geofence: Type.Optional(named('The geofence, if the event concerns one', 27, 'Harbour')),
  location: Type.Optional(
    Type.Object(
      { lat: number(48.229171), lng: number(16.418624), speed: number(12) },
      { description: 'Position of the event; speed in km/h' },
    ),
  ),
})
const schema = PlannedMessage as unknown as Schema & { examples: [JsonObject] }
export const [exampleMessage] = schema.examples

export const webhooks: Record<string, PathItem> = {
  fleetEvent: {
    post: {
      operationId: 'plannedFleetEvent',
      summary: 'Planned: the service sends an event to your URL',
      description:
        '**Planned, not available yet.** No webhook can be registered and none is sent today; registration, signing and retries are undecided. Until then poll `GET /v1/events`.',
      tags: [plannedTag],
      security: [],
      requestBody: { content: { 'application/json': { schema, example: exampleMessage } } },
      responses: { 200: { description: 'Your response: the message is accepted' } },
    },
  },
}
