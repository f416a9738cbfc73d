npx openapi-typescript '<BASE_URL>/openapi.json' -o gateway.ts
