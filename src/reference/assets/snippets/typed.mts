import createClient from 'openapi-fetch'
import type { paths } from './gateway.js'

const client = createClient<paths>({
  baseUrl: '<BASE_URL>',
  headers: { Authorization: 'Bearer <API_KEY>' },
})
const { data, error } = await client.GET('/v1/devices', { params: { query: { status: 'moving' } } })
if (error) throw new Error(error.message)
for (const { name, speed } of data.data) console.log(name, speed)
