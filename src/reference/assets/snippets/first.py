import json
from urllib.request import Request, urlopen

request = Request('<BASE_URL>/v1/devices?status=moving',
                  headers={'Authorization': 'Bearer <API_KEY>'})
with urlopen(request) as response:
    devices = json.load(response)
print(devices['count'], 'moving')
for device in devices['data']:
    print(device['name'], device['speed'], 'km/h at', device['lat'], device['lng'])
