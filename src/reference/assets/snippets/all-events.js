async function* eventsUntil(to) {
  for (let offset = 0; ; ) {
    const query = new URLSearchParams({ to, limit: 200, offset })
    const response = await fetch(`<BASE_URL>/v1/events?${query}`, {
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
}
