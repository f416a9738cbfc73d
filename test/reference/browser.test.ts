/** The reference in a real browser: what a reader can do there, and what the page must never do. */
import type { Locator, Page, Route } from 'playwright-core'
import t from 'tap'
import { ApiError, type ErrorCode, errorBody, errorTable } from '../../src/errors.js'
import { gateway } from '../helper.js'
import { until } from '../redis.js'
import {
  type Box,
  boxesOf,
  browser,
  desktop,
  findings,
  isLegible,
  keep,
  openConsole,
  operation,
  phone,
  widthOf,
  withoutChromium,
} from './browser.js'
import { consoleTests } from './console.js'

const marks = (page: Page): Locator => page.locator('.fleet > g')

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom

t.test('in a browser', { skip: withoutChromium() }, async (t) => {
  // All pages together are one caller of the demo; the map of a refused one stays empty for a minute.
  const service = await gateway(t, { env: { RATE_LIMIT_MAX: '1000' } })
  const { url } = service
  const open = await browser(t)

  // The first: nothing is in the cache of the browser.
  t.test('the map draws every device of the response, several at one place as a number, in 100 kB', async (t) => {
    const { page } = await open(t, desktop, `${url}/docs`)
    await marks(page).nth(5).waitFor({ state: 'attached' })
    const sizes = `performance.getEntries().filter(({ transferSize, name }) => transferSize && !name.includes('/v1/')).map((one) => one.transferSize)`
    const bytes = (await page.evaluate<number[]>(sizes)).reduce((sum, one) => sum + one)
    t.ok(bytes > 35_000 && bytes < 100_000, `the page weighs ${bytes} bytes until the console opens`)
    const response = (await page.locator('#map-json').textContent()) ?? ''
    const { count, data } = JSON.parse(response) as {
      count: number
      data: { id: number; lat: number | null; status: string }[]
    }
    const drawn = (await marks(page).allTextContents()).map((text) => Number(text || '1'))
    t.equal(count, 50)
    const placed = data.filter(({ lat }) => lat !== null)
    const sum = drawn.reduce((sum, one) => sum + one, 0)
    t.equal(sum, placed.length)
    t.match(await page.locator('#map-legend').textContent(), /moving \d+.*online \d+.*offline \d+/)
    const cluster = page.locator('.cluster').first()
    await cluster.click()
    t.equal(await page.locator('#map-mark button').count(), Number(await cluster.textContent()))
    const name = ((await page.locator('#map-mark button').first().textContent()) ?? '').trim()
    await page.keyboard.press('Enter')
    t.match(await page.locator('#map-device').textContent(), new RegExp(`^${name}: `), 'the first is chosen')
    t.equal(await page.locator('#map-mark').count(), 0)
    const last = String(data.at(-1)?.id)
    await page.locator('#map-choice').selectOption(last)
    t.match(await page.locator('#map-json .chosen').textContent(), new RegExp(`"id": ${last},`))
    t.match(await page.locator('#map-note').textContent(), /^Live: updated every 30 seconds while visible\./)
    await page.locator('#map-pause').click()
    t.equal(await page.locator('#map-note').textContent(), 'Paused.')
    // One that is not moving keeps its address.
    const parked = String(placed.find(({ status }) => status === 'offline')?.id)
    const { address } = (await service.get(`/v1/devices/${parked}/location`, 'demo')).body
    await page.locator('#map-choice').selectOption(parked)
    await page.getByText(`: offline, ${address}`).waitFor()
  })

  t.test('the map says whether it is paused, also when it is paused while it waits for a response', async (t) => {
    const { page } = await open(t, desktop)
    const asked = new Promise<Route>((resolve) => page.route('**/v1/devices?limit=500', resolve))
    await page.goto(`${url}/docs#map`)
    const request = await asked
    await page.locator('#map-pause').click()
    await request.continue()
    await marks(page).first().waitFor({ state: 'attached' })
    t.equal(await page.locator('#map-note').textContent(), 'Paused.')
    await page.locator('#map-pause').click()
    t.match(await page.locator('#map-note').textContent(), /^Live: /)
  })

  consoleTests(t, service, open)

  t.test('the map waits as long as a 429 says, also when it is looked at again', async (t) => {
    const busy = await gateway(t, { env: { RATE_LIMIT_MAX: '15' } })
    for (let spent = 0; spent < 16; spent++) await busy.get('/v1/me', 'demo')
    const { page, requests } = await open(t, { ...desktop }, 'about:blank', /429/)
    await page.clock.install()
    const asked = new Promise<Route>((resolve) => page.route('**/v1/geofences?format=geojson', resolve))
    await page.goto(`${busy.url}/docs#map`)
    const request = await asked
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await request.continue()
    await page.getByText(/out of requests for now; trying again in [3-6]\d seconds/).waitFor()
    await page.clock.fastForward(31_000)
    await page.evaluate(`fetch('${busy.url}/health')`)
    t.equal(requests.filter((one) => one.includes('/v1/')).length, 1, 'one request was sent')
    t.equal(await page.getByRole('img', { name: 'Map' }).count(), 1, 'the empty map has a name')
  })

  t.test(
    'the list of the devices of a mark is closed by a click beside it, or when the map or the fleet changes',
    async (t) => {
      const { page } = await open(t, { ...desktop })
      await page.clock.install()
      await page.goto(`${url}/docs#map`)
      await page.locator('.cluster').first().click()
      t.equal(await page.locator('#map-mark :focus').count(), 1)
      await page.locator('#map-legend').click()
      t.equal(await page.locator('#map-mark').count(), 0)
      await page.locator('.cluster').first().click()
      await page.keyboard.press('Escape')
      t.equal(await page.locator('#map-choice:focus').count(), 1, 'the focus is not lost with it')
      await page.locator('.cluster').first().click()
      t.equal(await page.locator('#map-mark').count(), 1)
      await page.setViewportSize(phone)
      await page.locator('#map-mark').waitFor({ state: 'detached', timeout: 5000 })
      await page.locator('.cluster').first().click()
      t.equal(await page.locator('#map-mark').count(), 1)
      await page.route('**/v1/devices?limit=500', (request) => request.fulfill({ json: { count: 0, data: [] } }))
      await page.clock.fastForward(31_000)
      await page.getByText('moving 0').waitFor()
      t.equal(await page.locator('#map-mark').count(), 0)
    },
  )

  t.test('every link opens its chapter or operation and is marked', async (t) => {
    const { page } = await open(t, desktop, `${url}/docs`)
    const hrefs = await page.locator('#navigation a').evaluateAll((all) => all.map((link) => link.getAttribute('href')))
    const ids = hrefs.map((href) => href?.slice(1) ?? '')
    t.equal(ids.filter((id) => id.startsWith('operation-')).length, 15)
    for (const id of ids) {
      await page.locator(`#navigation a[href="#${id}"]`).dispatchEvent('click')
      const [{ top } = { top: -1 }] = await boxesOf(page, `#${id}`)
      t.ok(top >= 0 && top < desktop.height / 2, `${id} is in view`)
      await page.locator(`#navigation a[href="#${id}"][aria-current]`).waitFor()
    }
    await page.locator(`${operation} label`, { hasText: 'Python' }).click()
    t.ok(await page.locator('#code-getMe-python').isVisible(), 'one choice of language for all operations')
    t.notOk(await page.locator('#code-getMe-shell').isVisible())
  })

  t.test('the docs link of every error opens its entry', async (t) => {
    const { page } = await open(t, desktop)
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      // A 429 has no link, but an entry.
      await page.goto(errorBody(new ApiError(code), `${url}/docs`).docs ?? `${url}/docs#error-${code}`)
      const entry = page.locator(`#error-${code}:target`)
      await until(async () => {
        const { y = -1 } = (await entry.boundingBox()) ?? {}
        return y >= 0 && y < desktop.height
      })
      t.match(await entry.innerText(), new RegExp(`${code}\\s+${errorTable[code][0]}`))
    }
  })

  t.test('without JavaScript everything but the map and the console works, and no map is said to load', async (t) => {
    const { page } = await open(t, { ...phone, isScripted: false }, `${url}/docs`)
    t.notOk(await page.locator('#map-note').isVisible())
    await page.locator('.menu').click()
    await page.locator(`#navigation a[href="${operation}"]`).click()
    await page.keyboard.press('Escape')
    await page.locator(`${operation} label`, { hasText: 'JavaScript' }).click()
    t.ok(await page.locator('#code-listDevices-javascript').isVisible())
    await page.locator(`${operation} summary`).click()
    t.ok(await page.locator(`${operation} details .fields`).isVisible())
  })

  t.test('on both screens axe finds nothing, no labels clash, an operation fits two screens', async (t) => {
    // How many labels have room depends on where the fleet is.
    const { url } = await gateway(t, { clock: () => Date.UTC(2026, 10, 25, 12) })
    // axe takes seconds: it runs once for each scheme and for each width.
    for (const view of [desktop, phone]) {
      const axeScheme = view === desktop ? 'light' : 'dark'
      const { page } = await open(t, view)
      await page.emulateMedia({ colorScheme: axeScheme })
      await page.goto(`${url}/docs#map`)
      await marks(page).nth(5).waitFor({ state: 'attached' })
      t.same(await findings(page), [], `${axeScheme}, ${view.width} pixels`)
      const labels = await boxesOf(page, '.names text')
      const drawn = await boxesOf(page, '.fleet path, .fleet .cluster circle')
      t.ok(labels.length >= 3 && drawn.length > 5)
      const inTheWay = labels.map((label, at) =>
        [...drawn, ...labels.slice(at + 1)].filter((one) => overlap(label, one)),
      )
      t.same(inTheWay.flat(), [], 'no label of the map lies on a mark or on another label')
      await keep(page, `map, ${axeScheme}, ${view.width} pixels`)
      for (const { top, bottom } of await boxesOf(page, '.operation'))
        t.ok(bottom - top <= 2 * view.height, `two screens of ${view.width} pixels`)
    }
  })

  t.test('on a phone every text of the console has contrast, and nothing is wider than the screen', async (t) => {
    const { page } = await open(t, phone, `${url}/docs${operation}`)
    await openConsole(page)
    await isLegible(t, page, phone)
  })

  t.test('text of twice the size fits a phone, with the title and the contents in view', async (t) => {
    const { page } = await open(t, { ...phone })
    const devTools = await page.context().newCDPSession(page)
    for (const standard of [24, 32]) {
      await devTools.send('Page.setFontSizes', { fontSizes: { standard } })
      await page.goto(`${url}/docs`)
      t.equal(await page.evaluate(widthOf), phone.width, `${standard} pixels: nothing is wider than the screen`)
      const boxes = await boxesOf(page, '.top, .name, .menu')
      t.equal(boxes.length, 3)
      for (const { left, top, right, bottom } of boxes)
        t.ok(left >= 0 && top >= 0 && right <= phone.width && bottom <= phone.height / 5)
      await keep(page, `text of ${standard} pixels`)
    }
  })

  t.test('on paper no line of code, no response and no list of fields is cut off or closed', async (t) => {
    const { page } = await open(t, phone, `${url}/docs`)
    await page.emulateMedia({ media: 'print' })
    const shown = `[...document.querySelectorAll('.field-details .fields')].filter((one) => one.checkVisibility() && one.clientHeight > 0).length`
    t.equal(await page.evaluate(shown), 15)
    const cut = `[...document.querySelectorAll('figure.code pre, .fields')].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map((one) => one.ariaLabel)`
    t.same(await page.evaluate(cut), [])
  })

  t.test('the keyboard reaches the navigation of a phone, its links and the languages', async (t) => {
    const { page } = await open(t, phone, `${url}/docs`)
    await page.keyboard.press('Tab')
    t.equal(await page.locator(':focus').textContent(), 'Skip to the content')
    await page.locator('.menu').focus()
    await page.keyboard.press('Enter')
    await page.locator('#navigation:popover-open').waitFor()
    await page.keyboard.press('Tab')
    t.equal(await page.locator(':focus').getAttribute('href'), '#overview')
    await page.locator(`#navigation a[href="${operation}"]`).focus()
    await page.keyboard.press('Enter')
    t.equal(await page.locator('#navigation:popover-open').count(), 0, 'a link closes it')
    await page.locator(`${operation} input[value=shell]`).focus()
    await page.keyboard.press('ArrowRight')
    t.ok(await page.locator('#code-listDevices-javascript').isVisible())
  })
})
