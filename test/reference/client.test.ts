/** A client generated from the document, used without a single cast. */
import { execFile } from 'node:child_process'
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { transform } from 'esbuild'
import createClient, { type Client } from 'openapi-fetch'
import { COMMENT_HEADER } from 'openapi-typescript'
import t from 'tap'
import { Compile } from 'typebox/schema'
import type { Schema } from '../../src/reference/openapi.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { temporaryFolder } from '../folder.js'
import { gateway } from '../helper.js'
import { createKey } from '../limits.js'
import { only } from '../only.js'
import { blocksOf, pageBlocks } from './blocks.js'
import { committed, isUpdating, publicUrl, remedy, tidied, typesPath, write } from './committed.js'
import type { components, paths } from './types.js'

type Device = components['schemas']['Device']

const run = promisify(execFile)

const { url, get } = await gateway(t, { env: { PUBLIC_URL: publicUrl } })

/** Fully typed: `tsc` checks this file against the document. Responses as JSON, not as GeoJSON. */
const clientOf = (baseUrl: string, credential: string): Client<paths> =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${credential}` } })
const client = clientOf(url, 'demo')

t.test('the command of the page generates the committed types, with which its TypeScript runs as pasted', async (t) => {
  const blocks = await blocksOf(url)
  const cwd = temporaryFolder(t)
  await symlink(resolve('node_modules'), join(cwd, 'node_modules'))
  // Without the settings of the npm that runs the tests.
  const { PATH, HOME } = process.env
  await run('bash', ['-c', blocks.get('generate')?.code ?? ''], { cwd, env: { PATH, HOME } })
  const source = (await readFile(join(cwd, 'gateway.ts'), 'utf8')).replace(COMMENT_HEADER, '')
  if (isUpdating) await write(typesPath, source)
  t.equal(await tidied(typesPath, source), await readFile(typesPath, 'utf8'), remedy)
  const { code } = await transform(blocks.get('typed')?.code ?? '', { loader: 'ts' })
  await writeFile(join(cwd, 'typed.mjs'), code)
  const { stdout } = await run(process.execPath, ['typed.mjs'], { cwd })
  t.match(stdout, /^(Van|Truck|Courier) \d+ \d/)
})

const yesterday = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)

t.test('a generated client reads who a device is, where, in what state, and only what it selects', async (t) => {
  const query = { ids: [1001, 1002], updated_since: 1, limit: 3, format: 'json' as const }
  const { data, error } = await client.GET('/v1/devices', { params: { query } })
  t.equal(error, undefined)
  const devices: Device[] = data?.data ?? []
  t.match(devices, only({ id: 1001 }, { id: 1002 }))
  for (const device of devices) {
    const { data: location } = await client.GET('/v1/devices/{id}/location', { params: { path: { id: device.id } } })
    const state: 'online' | 'offline' | 'moving' | undefined = location?.status
    const places: (number | null | undefined)[] = [device.lat, device.lng, location?.lat, location?.lng]
    t.notOk([state, ...places].some((one) => one === null || one === undefined))
    const texts: (string | null)[] = [device.imei, device.plate_number, device.vin, device.sim_number]
    const counters: (number | null)[] = [device.odometer_km, device.engine_hours, device.moved_at]
    const durations: (number | null)[] = [device.stopped_seconds, device.idle_seconds]
    const ignition: boolean | null = device.ignition
    const driver: number | null = device.driver_id
    t.notOk([...texts, ...counters, ...durations, ignition, device.sensors[0]?.id].includes(null))
    t.equal(driver === null, device.driver === null)
    t.ok(device.sensors.some(({ number }) => number !== null && number > 0))
  }
})

t.test('a generated client reads events, alerts, accounts, trips, stops and positions', async (t) => {
  const latest = { type: 'geofence.enter', to: yesterday, limit: 1 }
  const { data: events } = await client.GET('/v1/events', { params: { query: latest } })
  const event = events?.data[0]
  t.match([event?.kind, event?.speed, event?.alert_id], ['geofence.enter', Number, Number])
  t.match([event?.geofence?.id, event?.geofence?.name, event?.address], [Number, String, null])
  const path = { device_id: event?.device_id ?? 0 }
  const query = { from: yesterday, to: yesterday, positions: 'true' as const, format: 'json' as const }
  const { data: history } = await client.GET('/v1/history/{device_id}', { params: { path, query } })
  const [trip, stop, happened, fix] = [history?.trips[0], history?.stops[0], history?.events[0], history?.positions[0]]
  t.match([trip?.from, trip?.to, stop?.from, stop?.to, happened?.time, happened?.message], Array(6).fill(String))
  t.match([trip?.driver, stop?.address, history?.fuel_l], [null, null, null])
  const ends = [trip?.start.lat, trip?.start.lng, trip?.end.lat, trip?.end.lng, stop?.lat, stop?.lng]
  const amounts = [trip?.distance_km, trip?.duration_seconds, trip?.top_speed, trip?.average_speed]
  const others = [stop?.duration_seconds, happened?.lat, happened?.lng, fix?.course, fix?.altitude, fix?.timestamp]
  t.match([...ends, ...amounts, ...others], Array(16).fill(Number))
  const { data: alerts } = await client.GET('/v1/alerts')
  t.type(alerts?.data[0]?.all_devices, 'boolean')
  const { data: me } = await client.GET('/v1/me')
  t.match(me?.utc_offset, /^[+-]\d\d:\d\d$/)
})

t.test('a generated client creates a key with the minimal body, and reads an error', async (t) => {
  const platform_hash = sandboxAccounts()[0].hash
  // It compiles because no default makes a field required.
  const { data: created } = await client.POST('/v1/keys', { body: { platform_hash } })
  if (!created) throw new Error('no key')
  const { data: me } = await clientOf(url, created.key).GET('/v1/me')
  t.match(me, { credential: 'api_key', key: { id: created.id } })
  const { error } = await clientOf(url, 'other').GET('/v1/me')
  const code: components['schemas']['Error']['error'] | undefined = error?.error
  t.equal(code, 'invalid_token')
})

t.test(
  'a client in a typed language reads every number exactly: only a bounded integer may have 32 bits',
  async (t) => {
    const { paths, components, webhooks } = await committed()
    const numbers: Schema[] = []
    JSON.stringify([paths, components.schemas, webhooks], (_, value) => {
      const type = [value?.type].flat()
      if (type.includes('number') || (type.includes('integer') && value.maximum === undefined)) numbers.push(value)
      return value
    })
    t.ok(numbers.length > 80)
    for (const number of numbers)
      t.match(number, { format: [number.type].flat().includes('number') ? 'double' : 'int64' })
  },
)

t.test('GeoJSON bodies and renewed keys match the schemas that the document names for them', async (t) => {
  const { components, paths } = await committed()
  const platform_hash = sandboxAccounts()[0]?.hash as string
  const { body: made } = await createKey(get, { platform_hash })
  const { body: renewed } = await createKey(get, { platform_hash, renew: [made.id] })
  const bodies: [text: string, name: string, body: unknown][] = [
    [paths['/v1/keys']?.post?.description ?? '', 'KeyList', renewed],
  ]
  for (const [path, name, query] of [
    ['/v1/devices', 'DeviceCollection', 'limit=3'],
    ['/v1/geofences', 'GeofenceCollection', ''],
    ['/v1/history/{device_id}', 'Track', `from=${yesterday}&to=${yesterday}`],
  ] as const) {
    const format = paths[path]?.get?.parameters?.find((parameter) => parameter.name === 'format')
    const { body } = await get(`${path.replace('{device_id}', '1001')}?format=geojson&${query}`, 'demo')
    bodies.push([format?.description ?? '', name, body])
  }
  for (const [text, name, body] of bodies) {
    t.match(text, `\`${name}\``)
    const check = Compile({ components, $ref: `#/components/schemas/${name}` } as object)
    t.ok(name in components.schemas && check.Check(body), name)
    t.notOk(check.Check({}), `${name} does not match everything`)
  }
})

t.test('the TypeScript of the page and a call of every operation with its example compile', async (t) => {
  const { code = '' } = pageBlocks(await (await fetch(`${url}/docs`)).text()).find(({ name }) => name === 'typed') ?? {}
  const document = await committed()
  const calls = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, { parameters = [], requestBody }]) => {
      const params: Record<string, Record<string, unknown>> = {}
      for (const { name, in: place, example } of parameters) {
        if (example !== undefined) params[place] = { ...params[place], [name]: example }
      }
      const body = requestBody?.content['application/json']?.example
      return `await client.${method.toUpperCase()}('${path}', ${JSON.stringify({ params, ...(body ? { body } : {}) })})`
    }),
  )
  t.equal(calls.length, 15, 'count a new operation here')
  const right = [code, ...calls].join('\n')
  const wrong = right.replace('"platform_hash"', '"hash"')
  const cwd = t.testdir({ 'gateway.ts': await readFile(typesPath, 'utf8'), 'right.ts': right, 'wrong.ts': wrong })
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck --types node --module nodenext --target es2023'
  const compiling = run(resolve('node_modules/.bin/tsc'), [...options.split(' '), 'right.ts', 'wrong.ts'], { cwd })
  const { stdout } = await compiling.catch((failed: { stdout: string }) => failed)
  t.match(stdout, /^wrong\.ts\(.* error .*platform_hash/, 'a wrong call does not compile')
  t.notMatch(stdout, /^(?!wrong\.ts).*error TS/m)
})
