/** The page in a real browser: what a reader can do there, and what it must never do. */
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { ApiError, type ErrorCode, errorBody, errorTable } from '../../src/errors.js'
import { gateway } from '../helper.js'
import { browser, hasChromium, type Page, type View } from './browser.js'

const skip = hasChromium() ? false : 'CHROMIUM IS MISSING: the page is not tested here'
const desk: View = { width: 1280, height: 900 }

/** Everything that was asked for, but what stands in the page itself. */
const outside = (page: Page, url: string): string[] =>
  page.requests.filter((one) => !one.startsWith(new URL(url).origin) && !one.startsWith('data:'))

const devices = '#operations-Devices-listDevices'

async function openReference(page: Page): Promise<void> {
  await page.evaluate('document.getElementById("reference").scrollIntoView({ behavior: "instant" })')
  await page.until('document.getElementById("operations").dataset.state === "ready"')
}

t.test('in a browser', { skip }, async (t) => {
  const { url } = await gateway(t)
  const open = await browser(t)
  const pictures = await mkdtemp(join(tmpdir(), 'reference-'))
  t.comment(`pictures in ${pictures}`)
  const keep = async (page: Page, name: string) => writeFile(join(pictures, `${name}.png`), await page.picture())

  t.test('the fleet is drawn from the answer beside it', async (t) => {
    const page = await open(desk)
    await page.goto(`${url}/docs`)
    await page.until('document.querySelectorAll(".fleet .vehicle").length > 20')
    const answer = await page.evaluate<string>('document.getElementById("map-json").textContent')
    const { count, data } = JSON.parse(answer) as { count: number; data: { id: number; lat: number | null }[] }
    const placed = data.filter(({ lat }) => lat !== null)
    t.equal(count, 50)
    t.equal(await page.evaluate('document.querySelectorAll(".fleet .vehicle").length'), placed.length)
    t.equal(await page.evaluate('document.querySelectorAll(".areas g").length'), 6, 'over six geofences')
    t.match(
      await page.evaluate('document.getElementById("map-legend").textContent'),
      /moving \d+.*online \d+.*offline \d+/,
    )
    const last = data.at(-1)?.id
    await page.evaluate(
      `(() => { const choice = document.getElementById("map-choice"); choice.value = "${last}"; choice.dispatchEvent(new Event("change")) })()`,
    )
    t.match(
      await page.evaluate('document.querySelector("#map-json .chosen").textContent'),
      new RegExp(`"id": ${last},`),
    )
    await page.evaluate('document.getElementById("map-pause").click()')
    t.equal(await page.evaluate('document.getElementById("map-note").textContent'), 'Paused.')
    await keep(page, 'light')
    t.same(page.complaints, [])
    t.same(outside(page, url), [])
  })

  t.test('the map waits as long as it is told when the demo is out of requests', async (t) => {
    const busy = await gateway(t, { env: { RATE_LIMIT_MAX: '15' } })
    for (let spent = 0; spent < 16; spent++) await busy.get('/v1/me', 'demo')
    const page = await open(desk)
    await page.goto(`${busy.url}/docs#map`)
    await page.until(
      '/out of requests for now; trying again in [1-9]/.test(document.getElementById("map-note").textContent)',
    )
    t.equal(page.requests.filter((one) => one.includes('/v1/')).length, 1, 'it asked once')
  })

  t.test('"try it" asks with the demo token and shows the answer', async (t) => {
    const page = await open(desk)
    await page.goto(`${url}/docs`)
    await openReference(page)
    await page.evaluate(`document.querySelector("${devices} .opblock-summary-control").click()`)
    await page.until(`document.querySelector("${devices} .execute")`)
    const asked = `${url}/v1/devices?limit=50&offset=0`
    await page.evaluate(`document.querySelector("${devices} .execute").click()`)
    await page.until(`document.querySelector("${devices} .live-responses-table .response-col_status")`)
    t.match(await page.evaluate(`document.querySelector("${devices} .live-responses-table").innerText`), /"count": 50/)
    t.match(
      await page.evaluate(`document.querySelector("${devices} .live-responses-table").innerText`),
      /ratelimit-remaining/,
    )
    t.ok(page.requests.includes(asked), 'the request went to this gateway')
    await keep(page, 'try-it')
    t.same(page.complaints, [])
    t.same(outside(page, url), [])
  })

  t.test('every error has an anchor that its docs link opens', async (t) => {
    const page = await open(desk)
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      // As a body says it; a 429 has no link, and an anchor all the same.
      await page.goto(errorBody(new ApiError(code), `${url}/docs`).docs ?? `${url}/docs#error-${code}`)
      const place = `document.getElementById("error-${code}")`
      await page.until(`${place}?.matches(":target")`)
      await page.until(
        `${place}.getBoundingClientRect().top < innerHeight && ${place}.getBoundingClientRect().top >= 0`,
      )
      t.match(await page.evaluate(`${place}.innerText`), new RegExp(`${code}\\s+${errorTable[code][0]}`))
    }
    t.same(page.complaints, [])
  })

  t.test('it is legible in light and dark, at a desk and on a phone', async (t) => {
    const phone = { width: 360, height: 740, isStill: true }
    const views = { desk, dark: { ...desk, isDark: true }, phone, 'phone-dark': { ...phone, isDark: true } }
    for (const [name, view] of Object.entries(views)) {
      const page = await open(view)
      await page.goto(`${url}/docs#map`)
      await page.until('document.querySelectorAll(".fleet .vehicle").length > 20')
      await keep(page, `${name}-map`)
      await openReference(page)
      await page.evaluate(`document.querySelector("${devices} .opblock-summary-control").click()`)
      await page.until(`document.querySelector("${devices} .execute")`)
      const width = await page.evaluate<number>('document.documentElement.scrollWidth')
      t.ok(width <= view.width, `${name}: nothing is wider than the screen`)
      t.same(await page.evaluate(tooFaint), [], `${name}: text stands out from its ground`)
      await keep(page, name)
      t.same(page.complaints, [])
    }
  })

  t.test('it can be used with the keyboard and read by a screen reader', async (t) => {
    const page = await open(desk)
    await page.goto(`${url}/docs`)
    await page.press('Tab')
    t.equal(await page.evaluate('document.activeElement.textContent'), 'Skip to the content')
    const levels = await page.evaluate<number[]>(
      '[...document.querySelectorAll("h1, h2, h3")].map(({ tagName }) => Number(tagName[1]))',
    )
    t.equal(levels.filter((level) => level === 1).length, 1)
    t.ok(
      levels.every((level, at) => level <= (levels[at - 1] ?? 0) + 1),
      'no heading skips a level',
    )
    t.equal(await page.evaluate('document.querySelectorAll("main, nav, header, footer").length'), 4)
    t.equal(
      await page.evaluate('document.querySelectorAll("[id]").length'),
      await page.evaluate('new Set([...document.querySelectorAll("[id]")].map(({ id }) => id)).size'),
    )
  })
})

/** Texts of our own page whose contrast with the ground is below 4.5 to 1 (WCAG 1.4.3). */
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
