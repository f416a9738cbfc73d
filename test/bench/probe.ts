/** Loaded into a process by `--import`: whoever asks at the socket PROBE is told its memory after a garbage collection. Knows no gateway. */
import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** Megabytes; what is asked of the process itself. */
export interface Probed {
  rssMb: number
  heapMb: number
  externalMb: number
  handles: number
}

const MB = 1024 * 1024

if (isMainThread && process.env.PROBE !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const probed = async (): Promise<Probed> => {
    collect()
    await setImmediate() // what was finalized by the first may be freed by the second
    collect()
    const { rss, heapUsed, external } = process.memoryUsage()
    const handles = process.getActiveResourcesInfo().length
    return { rssMb: rss / MB, heapMb: heapUsed / MB, externalMb: external / MB, handles }
  }
  createServer((_request, response) => {
    response.setHeader('connection', 'close')
    void probed().then((found) => response.end(JSON.stringify(found)))
  })
    .listen(process.env.PROBE)
    .unref()
}
