/** The code examples of the page; each one runs as pasted once the page has filled in `<BASE_URL>` and `<API_KEY>`. */
import type { Samples } from './html.js'

export const first: Samples = {
  shell: `curl -H 'Authorization: Bearer <API_KEY>' '<BASE_URL>/v1/devices?limit=2'`,
  javascript: `const response = await fetch('<BASE_URL>/v1/devices?status=moving', {
  headers: { Authorization: 'Bearer <API_KEY>' },
})
const { count, data } = await response.json()
console.log(count, 'moving')
for (const { name, speed, lat, lng } of data) console.log(name, speed, 'km/h at', lat, lng)`,
  python: `import json
from urllib.request import Request, urlopen

request = Request('<BASE_URL>/v1/devices?status=moving',
                  headers={'Authorization': 'Bearer <API_KEY>'})
with urlopen(request) as response:
    devices = json.load(response)
print(devices['count'], 'moving')
for device in devices['data']:
    print(device['name'], device['speed'], 'km/h at', device['lat'], device['lng'])`,
}

export const generate = `npx openapi-typescript '<BASE_URL>/openapi.json' -o gateway.ts`

export const typed = `import createClient from 'openapi-fetch'
import type { paths } from './gateway.js'

const client = createClient<paths>({
  baseUrl: '<BASE_URL>',
  headers: { Authorization: 'Bearer <API_KEY>' },
})
const { data, error } = await client.GET('/v1/devices', { params: { query: { status: 'moving' } } })
if (error) throw new Error(error.message)
for (const { name, speed } of data.data) console.log(name, speed)`

export const envelope = `{
  "object": "list",
  "count": 1342,
  "limit": 200,
  "offset": 400,
  "has_more": true,
  "data": []
}`

export const allEvents = `async function* eventsUntil(to) {
  for (let offset = 0; ; ) {
    const query = new URLSearchParams({ to, limit: 200, offset })
    const response = await fetch(\`<BASE_URL>/v1/events?\${query}\`, {
      headers: { Authorization: 'Bearer <API_KEY>' },
    })
    const page = await response.json()
    yield* page.data
    if (!page.has_more) return
    offset += page.limit
  }
}

// A fixed end: new events do not shift the pages while you read them.
for await (const event of eventsUntil(new Date().toISOString())) {
  console.log(event.timestamp, event.device, event.message)
  if (event.type === 'overspeed') break
}`

export const sinceInstant = `curl -G -H 'Authorization: Bearer <API_KEY>' '<BASE_URL>/v1/events' \\
  --data-urlencode 'from=2026-05-11T06:00:00+02:00' -d 'type=overspeed' -d 'limit=5'`

export const backOff: Samples = {
  javascript: `async function get(path) {
  for (let wait = 1; ; wait = Math.min(wait * 2, 60)) {
    const response = await fetch('<BASE_URL>' + path, {
      headers: { Authorization: 'Bearer <API_KEY>' },
    })
    if (response.status !== 429 && response.status !== 503) return response
    const seconds = Math.max(Number(response.headers.get('Retry-After')), wait)
    await new Promise((done) => setTimeout(done, (seconds + Math.random()) * 1000))
  }
}

const response = await get('/v1/geofences')
const { data } = await response.json()
for (const { name, type } of data) console.log(name, type)`,
  python: `import json, random, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def get(path):
    wait = 1
    while True:
        request = Request('<BASE_URL>' + path, headers={'Authorization': 'Bearer <API_KEY>'})
        try:
            with urlopen(request) as response:
                return json.load(response)
        except HTTPError as error:
            if error.code not in (429, 503):
                raise
            seconds = max(float(error.headers.get('Retry-After', 0)), wait)
            time.sleep(seconds + random.random())
            wait = min(wait * 2, 60)

for geofence in get('/v1/geofences')['data']:
    print(geofence['name'], geofence['type'])`,
}

export const errorBody = `{
  "error": "not_found",
  "message": "There is no device with id 4711.",
  "docs": "<BASE_URL>/docs#error-not_found"
}`

export const conditional: Samples = {
  javascript: `let etag
let devices

async function refresh() {
  const response = await fetch('<BASE_URL>/v1/devices?limit=500', {
    headers: { Authorization: 'Bearer <API_KEY>', ...(etag && { 'If-None-Match': etag }) },
  })
  if (response.status === 304) return false
  etag = response.headers.get('ETag')
  devices = await response.json()
  return true
}

await refresh()
console.log(devices.count, 'devices')
console.log(await refresh() ? 'changed' : 'unchanged')`,
  python: `import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def get(etag=None):
    headers = {'Authorization': 'Bearer <API_KEY>'}
    if etag:
        headers['If-None-Match'] = etag
    try:
        with urlopen(Request('<BASE_URL>/v1/devices?limit=500', headers=headers)) as response:
            return json.load(response), response.headers['ETag']
    except HTTPError as error:
        if error.code != 304:
            raise
        return None, etag

devices, etag = get()
print(devices['count'], 'devices')
changes, etag = get(etag)
print('changed' if changes else 'unchanged')`,
}

export const stale = `curl -H 'Authorization: Bearer <API_KEY>' -H 'Cache-Control: stale-if-error=600' \\
  '<BASE_URL>/v1/devices/1001/location'`

export const rehearse = `curl -i -H 'Authorization: Bearer <API_KEY>' -H 'Prefer: error=rate_limit_exceeded' \\
  '<BASE_URL>/v1/devices'`
