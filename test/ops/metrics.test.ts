/** Metrics: true counts, bounded labels, and a dashboard and alerts that use existing metrics. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { ByteBudget } from '../../src/lib/byte-budget.js'
import { Metrics } from '../../src/ops/metrics.js'
import { gateway, gatewayOn, sandbox, someHash } from '../helper.js'
import { createKey, randomKey, revokeKey } from '../limits.js'

/** Name and labels of every series of ours. */
const seriesOf = (text: string): string[] => text.match(/^gateway_.*(?= )/gm) ?? []

const countOf = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

t.test('more accounts, keys, devices and unknown paths add no series', async (t) => {
  const { url, accounts } = await sandbox(t)
  const { get, metrics } = await gateway(t, { env: { PLATFORM_URL: url, MAX_KEYS_PER_ACCOUNT: '100' } })
  const visit = async (hash: string, id: number, tag: string): Promise<void> => {
    const { body: key } = await createKey(get, { platform_hash: hash, label: tag }, { 'x-request-id': tag })
    const paths = ['devices', 'alerts', 'geofences', 'drivers', 'services', 'me']
    for (const path of [...paths, `devices/${id}`, `devices/${id}/location`, `events?device_id=${id}`, `no/${tag}`]) {
      await get(`/v1/${path}`, key.key)
    }
    await get('/v1/keys', hash)
    await revokeKey(get, key.id, hash)
    await get('/v1/me', key.key)
    await get('/v1/me', `guess-${tag}`)
    await get('/v1/devices/999999999', hash)
    for (const method of ['PROPFIND', 'MKCOL', 'LOCK']) await get(`/v1/devices/${id}`, hash, { method })
    await get('/health')
  }
  const [first, ...others] = accounts
  if (!first) throw new Error('no account')
  await visit(first.hash, first.firstDeviceId, 'warm')
  t.match(await metrics(), /method="other",route="\/api\/v1\/devices\/:id",status="405"/)
  await visit(first.hash, first.firstDeviceId, 'warm-again') // some outcomes only come once there is something in memory
  const before = seriesOf(await metrics())
  t.ok(before.length > 100, `${before.length} series`)
  for (const { hash, firstDeviceId, devices } of [first, ...others]) {
    for (let n = 0; n < 2; n += 1) await visit(hash, firstDeviceId + (n % devices), `${firstDeviceId}-${n}`)
  }
  const after = await metrics()
  t.same(seriesOf(after), before)
  for (const { hash, email } of accounts) {
    t.notOk(after.includes(hash), 'no credential')
    t.notOk(after.includes(email), 'no account')
  }
})

t.test('the first 500 is an increase: its series exists before', async (t) => {
  const metrics = new Metrics()
  const errors = async () => countOf((await metrics.text()).body, 'gateway_internal_errors_total')
  t.equal(await errors(), 0)
  for (const status of [500, 503, 'rehearsed'] as const)
    metrics.observeRequest({ method: 'GET', route: '/', status, ms: 1 })
  t.equal(await errors(), 1)
})

t.test('requests, calls, lookups and limiter counts are counted as they happened, in every scrape', async (t) => {
  const bodies = { get_devices: [], get_alerts: '<html>' }
  const { get, metrics } = await gatewayOn(t, { env: { RATE_LIMIT_MAX: '4' } }, bodies)
  const { body: created } = await createKey(get)
  for (const key of [created.key, randomKey()]) await get('/v1/me', key)
  for (const path of ['devices', 'devices', 'alerts', 'me', 'me']) await get(`/v1/${path}`, someHash)
  await get('/nowhere')
  await metrics()
  const text = await metrics()
  const expected: Record<string, number> = {
    'gateway_requests_total{method="GET",route="/api/v1/devices",status="200"}': 2,
    'gateway_requests_total{method="GET",route="/api/v1/alerts",status="503"}': 1,
    'gateway_requests_total{method="GET",route="/api/v1/me",status="429"}': 1,
    'gateway_requests_total{method="none",route="none",status="404"}': 1,
    'gateway_request_seconds_count{route="/api/v1/devices"}': 2,
    'gateway_platform_calls_total{realm="platform",action="get_devices",outcome="ok"}': 1,
    'gateway_platform_calls_total{realm="platform",action="get_alerts",outcome="html"}': 1,
    'gateway_positions_lookups_total{result="miss"}': 1,
    'gateway_positions_lookups_total{result="hit"}': 2,
    gateway_limiter_limited_total: 1,
    'gateway_limiter_counts_total{counter="local"}': 10,
    'gateway_store_calls_total{verb="use",outcome="ok"}': 1,
    'gateway_store_calls_total{verb="use",outcome="none"}': 1,
    'gateway_breaker_state{realm="platform",state="closed"}': 1,
    gateway_store_up: 1,
  }
  for (const [series, value] of Object.entries(expected)) t.equal(countOf(text, series), value, series)
  t.match(text, /^nodejs_eventloop_lag_p99_seconds /m)
  t.match(text, /^process_resident_memory_bytes /m)
})

t.test('a key beyond the maximum and a revocation of no key have changed nothing in the store', async (t) => {
  const { get, metrics } = await gatewayOn(t, { env: { MAX_KEYS_PER_ACCOUNT: '1' } }, {})
  const { body: created } = await createKey(get)
  t.equal((await createKey(get)).status, 409)
  t.equal((await revokeKey(get, created.id)).status, 200)
  t.equal((await revokeKey(get, created.id)).status, 404)
  const text = await metrics()
  // A revocation tries both names that the account may own keys under.
  const expected = { create: [1, 1], revoke: [1, 2] }
  for (const [verb, counts] of Object.entries(expected))
    for (const [at, outcome] of ['ok', 'none'].entries())
      t.equal(countOf(text, `gateway_store_calls_total{verb="${verb}",outcome="${outcome}"}`), counts[at], verb)
})

t.test('latencies are in seconds, with the stated target as a boundary', async (t) => {
  const metrics = new Metrics()
  for (const ms of [300, 301]) metrics.observeRequest({ method: 'GET', route: '/one', status: 200, ms })
  for (const ms of [0.6, 251]) metrics.observeStoreCall({ verb: 'use', outcome: 'ok', ms })
  metrics.observeCall('platform', { action: 'get_devices', outcome: 'ok', ms: 2_500, account: 'a' })
  const { body: text } = await metrics.text()
  const expected: Record<string, number> = {
    'gateway_request_seconds_bucket{le="0.3",route="/one"}': 1,
    'gateway_request_seconds_sum{route="/one"}': 0.601,
    'gateway_store_call_seconds_bucket{le="0.25",verb="use"}': 1,
    'gateway_store_call_seconds_count{verb="use"}': 2,
    'gateway_platform_call_seconds_sum{realm="platform",action="get_devices"}': 2.5,
  }
  for (const [series, value] of Object.entries(expected)) t.equal(countOf(text, series), value, series)
})

t.test('a change of the platform is counted: unreadable rows and unknown values', async (t) => {
  const device = (id: number, online: string) => ({ id, name: 'Van', online })
  const items = [device(1, 'hovering'), device(2, ' Hovering'), device(3, 'ack'), 'junk']
  const alerts = [{ id: 1, name: 'x', type: 'teleport', devices: [] }, { name: 'y' }, 'junk']
  const points = [{ lat: 1, lng: 2, time: '2026-05-11 08:00:00' }, 'junk']
  const get_history = { items: [{ status: 1, items: points }] }
  const bodies = { get_devices: [{ items }], get_alerts: { items: { alerts } }, get_history }
  const { get, metrics, log } = await gatewayOn(t, bodies)
  const before = await metrics()
  await get('/v1/alerts', someHash)
  await get('/v1/alerts', someHash)
  await get('/v1/history/1?from=2026-05-11&to=2026-05-11', someHash)
  const text = await metrics()
  const expected: Record<string, number> = {
    'gateway_unknown_words_total{action="get_devices",field="online"}': 2,
    'gateway_unknown_words_total{action="get_alerts",field="type"}': 2,
    'gateway_rows_skipped_total{action="get_devices"}': 1,
    'gateway_rows_skipped_total{action="get_alerts"}': 4,
    'gateway_rows_skipped_total{action="get_history"}': 1,
  }
  for (const [series, value] of Object.entries(expected))
    t.same([countOf(before, series), countOf(text, series)], [0, value], `${series}: the first one is an increase`)
  t.notMatch(text, /hovering|teleport/i, 'no word becomes a label')
  for (const text of [/"\s*hovering"/i, '"action":"get_alerts","rows":1'])
    t.equal(log().split(text).length, 2, `the log has ${text} once`)
})

t.test('the sandbox sends no unknown value', async (t) => {
  const { get, metrics } = await gateway(t)
  for (const path of ['devices', 'events?limit=200', 'alerts', 'geofences', 'services'])
    await get(`/v1/${path}`, 'demo')
  t.notMatch(await metrics(), /^gateway_unknown_words_total\{.* [1-9]/m)
})

/** For tap's `skip`; in CI nothing is skipped. */
const withoutPromtool =
  process.env.CI || spawnSync('promtool', ['--version']).status === 0
    ? false
    : 'promtool is not installed: METRICS AND RULES ARE NOT CHECKED'

t.test('metrics and alert rules pass promtool', { skip: withoutPromtool }, async (t) => {
  const { get, metrics } = await gateway(t)
  t.equal((await get('/v1/devices', 'demo')).status, 200)
  const promtool = (args: string[], input = '') => {
    const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' })
    return { status, text: stdout + stderr }
  }
  t.same(promtool(['check', 'metrics'], await metrics()), { status: 0, text: '' })
  t.match(promtool(['check', 'rules', 'src/ops/alerts.yaml']), { status: 0, text: /SUCCESS/ })
  t.match(promtool(['test', 'rules', 'test/ops/alerts.yaml']), { status: 0, text: /SUCCESS/ })
})

/** Names of metrics in PromQL; a histogram is named by its parts. */
const namesIn = (expression: string): string[] =>
  (expression.match(/\b(?:gateway|nodejs|process)_[a-z0-9_]+/g) ?? []).map((name) => name.replace(/_(bucket|sum)$/, ''))

t.test('dashboard and alerts use existing metrics, and every metric is on the dashboard or in an alert', async (t) => {
  const metrics = new Metrics()
  const counts = { lookups: { hit: 0, miss: 0 }, counts: { shared: 0, local: 0 } }
  const sizes = { bytes: 0, usedBytes: 0, size: 0, localWindows: 0, up: () => true, ...counts }
  const [deviceCache, worker, accounts, counters, store] = [sizes, sizes, sizes, sizes, sizes]
  metrics.watch({ platforms: new Map(), deviceCache, worker, accounts, counters, store, budget: new ByteBudget(1) })
  const known = new Set([...(await metrics.text()).body.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
  const read = (name: string): string => readFileSync(`src/ops/${name}`, 'utf8')
  const dashboard = JSON.parse(read('dashboard.json')) as { panels: { title: string; targets: { expr: string }[] }[] }
  const rules = (parse(read('alerts.yaml')) as { groups: { rules: { alert: string; expr: string }[] }[] }).groups
  const panels = dashboard.panels.map(({ title }) => `[${title}]`)
  for (const [panel] of read('alerts.yaml').matchAll(/\[[A-Z][^\]]+\]/g)) t.ok(panels.includes(panel), panel)
  const asked = [
    ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ from: title, expr }))),
    ...rules.flatMap((group) => group.rules.map(({ alert, expr }) => ({ from: alert, expr }))),
  ]
  t.ok(asked.length > 30)
  for (const { from, expr } of asked) {
    const names = namesIn(expr)
    t.ok(names.length > 0, `${from} asks for something`)
    for (const name of names) t.ok(known.has(name), `${from}: ${name}`)
  }
  for (const { expr } of dashboard.panels.flatMap(({ targets }) => targets))
    t.equal(expr.split('{job=~"$job"').length, namesIn(expr).length + 1, `of one deployment: ${expr}`)
  const rejected = asked.filter(({ from }) => from.startsWith('Rejected')).map(({ expr }) => expr)
  t.match(rejected.join(), 'outcome="overload"', 'also what the worker rejects')
  const used = new Set(asked.flatMap(({ expr }) => namesIn(expr)))
  for (const name of known)
    if (name?.startsWith('gateway_')) t.ok(used.has(name), `${name} is in dashboard.json or alerts.yaml`)
})
