import json
from urllib.error import HTTPError
from urllib.request import Request, urlopen

def get(etag=None):
    headers = {'Authorization': 'Bearer <API_KEY>'}
    if etag:
        headers['If-None-Match'] = etag
    try:
        with urlopen(Request('<BASE_URL>/v1/devices?limit=500', headers=headers)) as response:
            return json.load(response), response.headers['ETag']
    except HTTPError as error:
        if error.code != 304:
            raise
        return None, etag

devices, etag = get()
print(devices['count'], 'devices')
changes, etag = get(etag)
print('changed' if changes else 'unchanged')
