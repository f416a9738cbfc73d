/** The code examples of the page; each one runs as pasted. Pure. */

/** @param base the address of the API as callers see it. */
export const firstCurl = (base: string, credential: string): string =>
  `curl -H 'Authorization: Bearer ${credential}' '${base}/v1/devices?limit=2'`

export const firstJavaScript = (base: string, credential: string): string =>
  `const response = await fetch('${base}/v1/devices?status=moving', {
  headers: { Authorization: 'Bearer ${credential}' },
})
const { count, data } = await response.json()
console.log(count, 'moving')
for (const { name, speed, lat, lng } of data) console.log(name, speed, 'km/h at', lat, lng)`

export const firstPython = (base: string, credential: string): string =>
  `import json
from urllib.request import Request, urlopen

request = Request('${base}/v1/devices?status=moving',
                  headers={'Authorization': 'Bearer ${credential}'})
with urlopen(request) as response:
    devices = json.load(response)
print(devices['count'], 'moving')
for device in devices['data']:
    print(device['name'], device['speed'], 'km/h at', device['lat'], device['lng'])`

export const createKey = (base: string): string =>
  `curl -X POST -H 'Content-Type: application/json' '${base}/v1/keys' \\
  -d '{"platform_hash": "<PLATFORM_HASH>", "label": "Dispatch board", "expires_in_days": 365}'`

export const listKeys = (base: string): string => `curl -H 'Authorization: Bearer <PLATFORM_HASH>' '${base}/v1/keys'`

export const revokeKey = (base: string): string =>
  `curl -X DELETE -H 'Authorization: Bearer <PLATFORM_HASH>' '${base}/v1/keys/<KEY_ID>'`

export const envelope = `{
  "object": "list",
  "count": 1342,
  "limit": 200,
  "offset": 400,
  "has_more": true,
  "data": []
}`

export const allEvents = (base: string, credential: string): string =>
  `async function* eventsUntil(to) {
  for (let offset = 0; ; ) {
    const query = new URLSearchParams({ to, limit: 200, offset })
    const response = await fetch(\`${base}/v1/events?\${query}\`, {
      headers: { Authorization: 'Bearer ${credential}' },
    })
    const page = await response.json()
    yield* page.data
    if (!page.has_more) return
    offset += page.data.length
  }
}

// A fixed end: new events do not shift the pages while you read them.
for await (const event of eventsUntil(new Date().toISOString())) {
  console.log(event.timestamp, event.device, event.message)
  if (event.type === 'overspeed') break
}`

export const sinceInstant = (base: string, credential: string): string =>
  `curl -G -H 'Authorization: Bearer ${credential}' '${base}/v1/events' \\
  --data-urlencode 'from=2026-05-11T06:00:00+02:00' -d 'type=overspeed' -d 'limit=5'`

export const staleIfError = (base: string, credential: string): string =>
  `curl -H 'Authorization: Bearer ${credential}' -H 'Cache-Control: stale-if-error=600' '${base}/v1/devices?limit=3'`

export const backOffJavaScript = (base: string, credential: string): string =>
  `async function get(path) {
  for (let wait = 1; ; wait = Math.min(wait * 2, 60)) {
    const response = await fetch('${base}' + path, {
      headers: { Authorization: 'Bearer ${credential}' },
    })
    if (response.status !== 429 && response.status !== 503) return response
    const seconds = Math.max(Number(response.headers.get('Retry-After')), wait)
    await new Promise((done) => setTimeout(done, (seconds + Math.random()) * 1000))
  }
}

const response = await get('/v1/geofences')
const { data } = await response.json()
for (const { name, type } of data) console.log(name, type)`

export const backOffPython = (base: string, credential: string): string =>
  `import json, random, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def get(path):
    wait = 1
    while True:
        request = Request('${base}' + path, headers={'Authorization': 'Bearer ${credential}'})
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
    print(geofence['name'], geofence['type'])`

export const errorBody = (base: string): string =>
  `{
  "error": "not_found",
  "message": "There is no device with id 4711.",
  "docs": "${base}/docs#error-not_found"
}`
