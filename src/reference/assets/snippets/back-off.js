async function get(path) {
  for (let wait = 1; ; wait = Math.min(wait * 2, 60)) {
    const response = await fetch(`<BASE_URL>${path}`, {
      headers: { Authorization: 'Bearer <API_KEY>' },
    })
    if (response.status !== 429 && response.status !== 503) return response
    const seconds = Math.max(Number(response.headers.get('Retry-After')), wait)
    await new Promise((done) => setTimeout(done, (seconds + Math.random()) * 1000))
  }
}

const response = await get('/v1/geofences')
const { data } = await response.json()
for (const { name, type } of data) console.log(name, type)
