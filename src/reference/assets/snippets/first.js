const response = await fetch('<BASE_URL>/v1/devices?status=moving', {
  headers: { Authorization: 'Bearer <API_KEY>' },
})
const { count, data } = await response.json()
console.log(count, 'moving')
for (const { name, speed, lat, lng } of data) console.log(name, speed, 'km/h at', lat, lng)
