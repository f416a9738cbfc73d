import json, random, time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def get(path):
    wait = 1
    while True:
        request = Request('<BASE_URL>' + path, headers={'Authorization': 'Bearer <API_KEY>'})
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
    print(geofence['name'], geofence['type'])
