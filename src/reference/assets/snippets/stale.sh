curl -H 'Authorization: Bearer <API_KEY>' -H 'Cache-Control: stale-if-error=600' \
  '<BASE_URL>/v1/devices/1001/location'
