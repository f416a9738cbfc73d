curl -G -H 'Authorization: Bearer <API_KEY>' '<BASE_URL>/v1/events' \
  --data-urlencode 'from=2026-05-11T06:00:00+02:00' -d 'type=overspeed' -d 'limit=5'
