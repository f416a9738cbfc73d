/** The reference in a real browser: what a reader can do there, and what the page must never do. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { ApiError, type ErrorCode, errorBody, errorTable } from '../../src/errors.js'
import { gateway } from '../helper.js'
import { browser, type Opened, type View, withoutChromium } from './browser.js'

const desktop: View = { width: 1280, height: 900 }

/** All requests but those to the gateway itself. */
const outside = ({ requests }: Opened, url: string): string[] =>
  requests.filter((one) => !one.startsWith(new URL(url).origin) && !one.startsWith('data:'))

const drawnDevices = (page: Page): Locator => page.locator('.fleet .device')
const operation = '#operations-Devices-listDevices'

/** Scrolls to the interactive reference and opens the operation that lists devices. */
async function openOperation(page: Page): Promise<void> {
  await page.locator('#reference').scrollIntoViewIfNeeded()
  await page.locator('#operations[data-state=ready]').waitFor()
  await page.locator(`${operation} .opblock-summary-control`).click()
  await page.locator(`${operation} .execute`).waitFor()
}

t.test('in a browser', { skip: withoutChromium() }, async (t) => {
  const { url } = await gateway(t)
  const open = await browser(t)
  const pictures = await mkdtemp(join(tmpdir(), 'reference-'))
  t.comment(`pictures in ${pictures}`)
  const keep = (page: Page, name: string) => page.screenshot({ path: join(pictures, `${name}.png`) })

  t.test('the fleet is drawn from the response beside it', async (t) => {
    const opened = await open(desktop)
    const { page } = opened
    await page.goto(`${url}/docs`)
    await drawnDevices(page).nth(20).waitFor({ state: 'attached' })
    const response = (await page.locator('#map-json').textContent()) ?? ''
    const { count, data } = JSON.parse(response) as { count: number; data: { id: number; lat: number | null }[] }
    const placed = data.filter(({ lat }) => lat !== null)
    t.equal(count, 50)
    t.equal(await drawnDevices(page).count(), placed.length)
    t.equal(await page.locator('.areas g').count(), 6, 'over six geofences')
    t.match(await page.locator('#map-legend').textContent(), /moving \d+.*online \d+.*offline \d+/)
    const last = String(data.at(-1)?.id)
    await page.locator('#map-choice').selectOption(last)
    t.match(await page.locator('#map-json .chosen').textContent(), new RegExp(`"id": ${last},`))
    await page.locator('#map-pause').click()
    t.equal(await page.locator('#map-note').textContent(), 'Paused.')
    await keep(page, 'light')
    t.same(opened.complaints, [])
    t.same(outside(opened, url), [])
  })

  t.test('the map waits as long as a 429 says when the demo is out of requests', async (t) => {
    const busy = await gateway(t, { env: { RATE_LIMIT_MAX: '15' } })
    for (let spent = 0; spent < 16; spent++) await busy.get('/v1/me', 'demo')
    const { page, requests } = await open(desktop)
    await page.goto(`${busy.url}/docs#map`)
    await page.getByText(/out of requests for now; trying again in [1-9]/).waitFor()
    t.equal(requests.filter((one) => one.includes('/v1/')).length, 1, 'one request was sent')
  })

  t.test('"try it" sends the demo token and shows the response', async (t) => {
    const opened = await open(desktop)
    const { page } = opened
    await page.goto(`${url}/docs`)
    await openOperation(page)
    await page.locator(`${operation} .execute`).click()
    const response = page.locator(`${operation} .live-responses-table`)
    await response.locator('.response-col_status').first().waitFor()
    t.match(await response.innerText(), /"count": 50/)
    t.match(await response.innerText(), /ratelimit-remaining/)
    t.ok(opened.requests.includes(`${url}/v1/devices?limit=50&offset=0`), 'the request went to this gateway')
    await keep(page, 'try-it')
    t.same(opened.complaints, [])
    t.same(outside(opened, url), [])
  })

  t.test('every error has an anchor that its docs link opens', async (t) => {
    const { page, complaints } = await open(desktop)
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      // The link in an error body; a 429 has none, but an anchor.
      await page.goto(errorBody(new ApiError(code), `${url}/docs`).docs ?? `${url}/docs#error-${code}`)
      const entry = page.locator(`#error-${code}:target`)
      await entry.waitFor()
      const isSeen = `(() => { const { top } = document.getElementById('error-${code}').getBoundingClientRect(); return top >= 0 && top < innerHeight })()`
      await page.waitForFunction(isSeen)
      t.match(await entry.innerText(), new RegExp(`${code}\\s+${errorTable[code][0]}`))
    }
    t.same(complaints, [])
  })

  t.test('the page is legible in light and dark schemes, on a desktop and on a phone', async (t) => {
    const phone = { width: 360, height: 740, isStill: true }
    const views = { desktop, dark: { ...desktop, isDark: true }, phone, 'phone-dark': { ...phone, isDark: true } }
    for (const [name, view] of Object.entries(views)) {
      const { page, complaints } = await open(view)
      await page.goto(`${url}/docs#map`)
      await drawnDevices(page).nth(20).waitFor({ state: 'attached' })
      await keep(page, `${name}-map`)
      await openOperation(page)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      t.ok(width <= view.width, `${name}: nothing is wider than the screen`)
      t.same(await page.evaluate(tooFaint), [], `${name}: every text has enough contrast`)
      await keep(page, name)
      t.same(complaints, [])
    }
  })

  t.test('the page works with the keyboard and with a screen reader', async (t) => {
    const { page } = await open(desktop)
    await page.goto(`${url}/docs`)
    await page.keyboard.press('Tab')
    t.equal(await page.locator(':focus').textContent(), 'Skip to the content')
    const names = await page.locator('h1, h2, h3').evaluateAll((headings) => headings.map(({ tagName }) => tagName))
    const levels = names.map((name) => Number(name[1]))
    t.equal(levels.filter((level) => level === 1).length, 1)
    t.ok(
      levels.every((level, at) => level <= (levels[at - 1] ?? 0) + 1),
      'no heading skips a level',
    )
    t.equal(await page.locator('main, nav, header, footer').count(), 4)
    const ids = await page.locator('[id]').evaluateAll((elements) => elements.map(({ id }) => id))
    t.equal(new Set(ids).size, ids.length, 'no id is used twice')
  })
})

/** Texts whose contrast with their background is below 4.5 to 1 (WCAG 1.4.3). */
const tooFaint = `(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0)
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor)
      if (colour.length === 3 || colour[3] === 1) return colour
    }
    return [255, 255, 255]
  }
  const own = [...document.querySelectorAll('body *')].filter((one) => !one.closest('svg, noscript, option') && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()))
  return own.filter((one) => one.checkVisibility() && !one.closest('.skip')).flatMap((one) => {
    const [a, b] = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((x, y) => y - x)
    const contrast = (a + 0.05) / (b + 0.05)
    return contrast < 4.5 ? [contrast.toFixed(1) + ' ' + one.className + ' ' + one.textContent.trim().slice(0, 40)] : []
  })
})()`
