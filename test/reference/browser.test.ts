/** The reference in a real browser: what a reader can do there, and what the page must never do. */
import axe from 'axe-core'
import type { Locator, Page, Route } from 'playwright-core'
import t from 'tap'
import { ApiError, type ErrorCode, errorBody, errorTable } from '../../src/errors.js'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import { gateway } from '../helper.js'
import { until } from '../redis.js'
import { browser, isSettled, keep, tooFaint, type View, withoutChromium } from './browser.js'

const desktop: View = { width: 1400, height: 900 }
const phone: View = { width: 390, height: 844 }

const marks = (page: Page): Locator => page.locator('.fleet > g')
const operation = '#operation-listDevices'

/** Opens the console of the operation that lists devices. */
async function openConsole(page: Page): Promise<void> {
  await page.locator(`${operation} .try`).click()
  await page.locator('#console[data-state=ready] .execute').waitFor()
}

const widthOf = 'document.documentElement.scrollWidth'

type Box = Record<'left' | 'top' | 'right' | 'bottom', number>

const boxesOf = (page: Page, selector: string): Promise<Box[]> =>
  page.evaluate<Box[]>(
    `[...document.querySelectorAll('${selector}')].filter((one) => one.getAttribute('visibility') !== 'hidden').map((one) => one.getBoundingClientRect().toJSON())`,
  )

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom

async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 120))))`,
  )
}

t.test('in a browser', { skip: withoutChromium() }, async (t) => {
  // All pages together are one caller of the demo; the map of a refused one stays empty for a minute.
  const { url, get } = await gateway(t, { env: { RATE_LIMIT_MAX: '1000' } })
  const open = await browser(t)

  t.test('the map draws every device of the response, several at one place as a number, in 100 kB', async (t) => {
    const { page, complaints } = await open(t, desktop)
    await page.goto(`${url}/docs`)
    await marks(page).nth(5).waitFor({ state: 'attached' })
    const sizes = `performance.getEntries().filter(({ transferSize, name }) => transferSize && !name.includes('/v1/')).map((one) => one.transferSize)`
    const bytes = (await page.evaluate<number[]>(sizes)).reduce((sum, one) => sum + one)
    t.ok(bytes > 10_000 && bytes < 100_000, `the page weighs ${bytes} bytes until the console opens`)
    const response = (await page.locator('#map-json').textContent()) ?? ''
    const { count, data } = JSON.parse(response) as { count: number; data: { id: number; lat: number | null }[] }
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
    await page.locator('#map-pause').click()
    t.equal(await page.locator('#map-note').textContent(), 'Paused.')
    t.same(complaints, [])
  })

  t.test('the map waits as long as a 429 says when the demo is out of requests', async (t) => {
    const busy = await gateway(t, { env: { RATE_LIMIT_MAX: '15' } })
    for (let spent = 0; spent < 16; spent++) await busy.get('/v1/me', 'demo')
    const { page, requests } = await open(t, desktop)
    await page.goto(`${busy.url}/docs#map`)
    await page.getByText(/out of requests for now; trying again in [1-9]/).waitFor()
    t.equal(requests.filter((one) => one.includes('/v1/')).length, 1, 'one request was sent')
    t.equal(await page.getByRole('img', { name: 'Map' }).count(), 1, 'the empty map has a name')
  })

  t.test('the console hides what is typed, sends the demo token and moves to another operation', async (t) => {
    const { page, complaints, requests } = await open(t, desktop)
    await page.goto(`${url}/docs${operation}`)
    await openConsole(page)
    await page.locator('#console .authorize').first().click()
    const entries = page.locator('.dialog-ux .auth-container')
    t.match(await entries.first().innerText(), /demoToken/)
    t.ok(await entries.first().locator('h4').isVisible(), 'the dialog shows its first entry')
    t.equal(await page.evaluate<number>(`document.querySelector('.modal-ux-content').scrollTop`), 0)
    const inputs = page.locator('.dialog-ux input')
    t.same(await inputs.evaluateAll((all) => all.map((one) => one.getAttribute('type'))), ['password', 'password'])
    await page.locator('.dialog-ux .close-modal').click()
    await page.locator('#console .execute').click()
    const response = page.locator('#console .live-responses-table')
    await response.locator('.response-col_status').first().waitFor()
    const shown = await response.innerText()
    t.match(shown, /"count": 50/)
    t.match(shown, /ratelimit-remaining/)
    t.ok(requests.includes(`${url}/v1/devices?limit=50&offset=0`), 'the request went to this gateway')
    t.equal(await page.locator('main').count(), 1)
    await page.locator('#operation-getMe .try').click()
    await page.locator('#operation-getMe .execute').click()
    await page.getByText('"credential": "demo"').first().waitFor()
    // The same button closes it.
    await page.locator('#operation-getMe .try').click()
    await page.locator('#console').waitFor({ state: 'detached' })
    await page.locator('#operation-createKey .try').click()
    await page.locator('#console textarea').waitFor()
    const required = `getComputedStyle(document.querySelector('#console .required'), '::after').color`
    t.equal(await page.evaluate(required), 'rgb(179, 38, 30)', 'dark enough on a light ground')
    const platform_hash = sandboxAccounts()[0]?.hash
    await page.locator('#console textarea').fill(JSON.stringify({ platform_hash, label: 'From the console' }))
    await page.locator('#operation-createKey .execute').click()
    await page.getByText('"label": "From the console"').first().waitFor()
    t.same(complaints, [])
  })

  t.test('the console is in one place, also when another operation is opened while it loads', async (t) => {
    const { page, complaints } = await open(t, desktop)
    const asked = new Promise<Route>((resolve) => page.route('**/openapi.json', resolve))
    await page.goto(`${url}/docs`)
    for (const id of [operation, '#operation-getMe']) {
      await page.locator(`${id} .try`).click()
      await page.locator(`${id} #console[data-state=loading]`).waitFor()
    }
    await (await asked).continue()
    await page.locator('#console[data-state=ready] .execute').waitFor()
    t.equal(await page.locator('#console .opblock-summary-path').getAttribute('data-path'), '/v1/me')
    const expanded = await page
      .locator('.try[aria-expanded=true]')
      .evaluateAll((all) => all.map((one) => one.ariaLabel))
    t.same(expanded, ['Try it: Get the account of the credential'])
    t.same(complaints, [])
  })

  t.test('the example of history has recent days, in its code and in the console, where the focus moves', async (t) => {
    const { page, complaints } = await open(t, desktop)
    await page.goto(`${url}/docs`)
    const codes = await page.locator('#operation-getHistory .samples code').allTextContents()
    const [one, ...others] = new Set(codes.map((code) => /\/v1\/history\/[^']+/.exec(code)?.[0]))
    t.same(others, [], 'all languages send the same request')
    const { body } = await get(one ?? '', 'demo')
    t.ok(body.trips.length > 0 && body.positions.length > 0)
    await page.locator('#operation-getHistory .try').focus()
    await page.keyboard.press('Enter')
    await page.locator('#console .execute').waitFor()
    t.ok(await page.getByRole('region', { name: 'Console', exact: true }).and(page.locator(':focus')).isVisible())
    const [{ top } = { top: -1 }] = await boxesOf(page, '#console')
    t.ok(top >= 0 && top < desktop.height / 2, 'it is in view')
    const days = await page.locator('#console input[placeholder=from], #console input[placeholder=to]').all()
    t.same(await Promise.all(days.map((day) => day.inputValue())), [body.from, body.to])
    t.same(complaints, [])
  })

  t.test('every link opens its chapter or operation and is marked', async (t) => {
    const { page, complaints } = await open(t, desktop)
    await page.goto(`${url}/docs`)
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
    t.same(complaints, [])
  })

  t.test('the docs link of every error opens its entry', async (t) => {
    const { page, complaints } = await open(t, desktop)
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
    t.same(complaints, [])
  })

  t.test('without JavaScript everything but the map and the console works', async (t) => {
    const { page, complaints } = await open(t, { ...phone, isScripted: false })
    await page.goto(`${url}/docs`)
    await page.locator('.menu').click()
    await page.locator(`#navigation a[href="${operation}"]`).click()
    await page.keyboard.press('Escape')
    await page.locator(`${operation} label`, { hasText: 'JavaScript' }).click()
    t.ok(await page.locator('#code-listDevices-javascript').isVisible())
    await page.locator(`${operation} summary`).click()
    t.ok(await page.locator(`${operation} details .fields`).isVisible())
    t.same(complaints, [])
  })

  t.test(
    'on both screens axe finds nothing, every text has contrast, no labels clash, an operation fits two screens',
    async (t) => {
      // How many labels have room depends on where the fleet is.
      const { url } = await gateway(t, { env: { RATE_LIMIT_MAX: '1000', GATEWAY_CLOCK: '2026-11-25T12:00:00Z' } })
      // axe takes seconds: it runs once for each scheme and for each width.
      for (const view of [desktop, phone]) {
        const axeScheme = view === desktop ? 'light' : 'dark'
        const { page, complaints } = await open(t, view)
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
        await page.goto(`${url}/docs${operation}`)
        await openConsole(page)
        for (const colorScheme of ['light', 'dark'] as const) {
          const name = `${colorScheme}, ${view.width} pixels`
          await page.emulateMedia({ colorScheme })
          await until(() => page.evaluate<boolean>(isSettled(colorScheme)))
          const width = await page.evaluate<number>(widthOf)
          t.ok(width <= view.width, `${name}: nothing is wider than the screen`)
          t.same(await page.evaluate(tooFaint), [], `${name}: every text has enough contrast, in the console too`)
          await keep(page, `console, ${name}`)
        }
        t.same(complaints, [])
      }
    },
  )

  t.test('text of twice the size fits a phone, with the title and the contents in view', async (t) => {
    const { page } = await open(t, phone)
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

  t.test('on paper no line of code and no response is cut off', async (t) => {
    const { page } = await open(t, phone)
    await page.emulateMedia({ media: 'print' })
    await page.goto(`${url}/docs`)
    const cut = `[...document.querySelectorAll('figure.code pre')].filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight).map((one) => one.ariaLabel)`
    t.same(await page.evaluate(cut), [])
  })

  t.test('the keyboard reaches the navigation of a phone, its links and the languages', async (t) => {
    const { page } = await open(t, phone)
    await page.goto(`${url}/docs`)
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
