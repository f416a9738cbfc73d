/** `GET /health`: the state of the gateway's components according to recent calls. Makes no call itself. */
import { Type } from 'typebox'
import type { App } from '../http/types.js'
import type { PlatformState } from '../platform/health.js'
import { field, Resource, Word } from '../resources/schema.js'

const Component = (name: string) =>
  Word(['up', 'down', 'unknown'], {
    description: `${name} according to the last calls; unknown before the first one`,
    example: 'up',
  })

const Health = Resource('Health', 'State of the service according to recent calls', {
  status: Word(['ok', 'degraded'], { description: '`degraded` while a component is down', example: 'ok' }),
  version: field.text('Version of the API', '1.0.0'),
  uptime_s: field.count('Seconds since the gateway started', 86_400),
  components: Type.Object({
    platform: Component('The tracking platform'),
    store: Component('The store of API keys'),
  }),
})

interface HealthNeeds {
  version: string
  /** Monotonic milliseconds. */
  ticks: () => number
  platform: () => PlatformState
  store: () => PlatformState
}

export function health(app: App, { version, ticks, platform, store }: HealthNeeds): void {
  const startedAt = ticks()
  const getHealthSchema = {
    operationId: 'getHealth',
    summary: 'Get the state of the service',
    description: '200 as long as the gateway serves requests. Needs no credential; not rate limited.',
    tags: ['Service'],
    security: [],
    response: { 200: Health },
  }
  app.get('/health', { schema: getHealthSchema }, async () => {
    const components = { platform: platform(), store: store() }
    const isDown = Object.values(components).includes('down')
    const uptime_s = Math.floor((ticks() - startedAt) / 1000)
    return { status: isDown ? ('degraded' as const) : ('ok' as const), version, uptime_s, components }
  })
}
