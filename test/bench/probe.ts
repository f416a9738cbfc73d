/** Loaded by `--import`: responds on the port PROBE with the memory of its process after a garbage collection. */
import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

/** Megabytes, and the number of active resources. */
export interface ProbeResult {
  rssMb: number
  heapMb: number
  externalMb: number
  handles: number
}

const MB = 1024 * 1024

if (isMainThread && process.env.PROBE !== undefined) {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const server = createServer((_request, response) => {
    collect()
    collect() // what the first has finalized
    const { rss, heapUsed, external } = process.memoryUsage()
    const handles = process.getActiveResourcesInfo().length
    const [rssMb, heapMb, externalMb] = [rss, heapUsed, external].map((bytes) => Math.round((bytes / MB) * 10) / 10)
    const result = { rssMb, heapMb, externalMb, handles }
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify(result))
  })
  server.listen(Number(process.env.PROBE), '127.0.0.1').unref()
}
