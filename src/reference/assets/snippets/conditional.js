let etag
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
console.log((await refresh()) ? 'changed' : 'unchanged')
