// The worker of the gateway for tests: tsx registers itself in the main thread only, so each worker thread has to do it.
import { register } from 'tsx/esm/api'

register()
await import('../src/devices/worker.ts')
