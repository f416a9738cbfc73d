curl -H 'Authorization: Bearer <API_KEY>' '<BASE_URL>/v1/devices?limit=2'
