/** `GET /health`: how the gateway fares, from what recent calls saw. Asks nobody. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'

const Component = (description: string) =>
  Type.Enum(['up', 'down', 'unknown'], { type: 'string', description: `${description}; unknown before the first call` })

export const Health = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded'], { type: 'string', description: '`degraded` while a component is down' }),
    version: Type.String({ description: 'Version of the API' }),
    uptime_s: Type.Integer({ minimum: 0, description: 'Seconds since the gateway started' }),
    components: Type.Object({
      platform: Component('The tracking platform as of the last calls'),
      store: Component('The store of API keys as of the last calls'),
    }),
  },
  {
    additionalProperties: false,
    title: 'Health',
    description: 'How the service fares, from what recent calls saw',
    examples: [{ status: 'ok', version: '1.0.0', uptime_s: 86_400, components: { platform: 'up', store: 'up' } }],
  },
)
type State = 'up' | 'down' | 'unknown'

export interface HealthNeeds {
  version: string
  clock: () => number
  platform: () => State
  store: () => State
}

export function health(app: App, { version, clock, platform, store }: HealthNeeds): void {
  const startedAt = clock()
  app.get(
    '/health',
    {
      schema: {
        operationId: 'getHealth',
        summary: 'Whether the service works',
        description: 'Answers 200 while the gateway serves. Needs no credential and is not counted.',
        tags: ['Service'],
        security: [],
        response: { 200: Health },
      },
    },
    async () => {
      const components = { platform: platform(), store: store() }
      const isDown = Object.values(components).includes('down')
      const uptime_s = Math.max(0, Math.floor((clock() - startedAt) / 1000))
      return { status: isDown ? ('degraded' as const) : ('ok' as const), version, uptime_s, components }
    },
  )
}
