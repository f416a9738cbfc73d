curl -i -H 'Authorization: Bearer <API_KEY>' -H 'Prefer: error=rate_limit_exceeded' \
  '<BASE_URL>/v1/devices'
