/** The console of the reference in a real browser: where it opens, what it hides and what it sends. Its tests share gateway and browser with others. */
import type { Route } from 'playwright-core'
import type { Test } from 'tap'
import { sandboxAccounts } from '../../src/sandbox/sandbox.js'
import type { Gateway } from '../helper.js'
import { boxesOf, desktop, findings, isLegible, type Open, openConsole, operation } from './browser.js'

export function consoleTests(t: Test, { url, get }: Gateway, open: Open): void {
  t.test('the console hides what is typed, is legible, sends the demo token and can be moved', async (t) => {
    const { page, requests } = await open(t, desktop, `${url}/docs${operation}`)
    await openConsole(page)
    await page.locator('#console .authorize').first().click()
    const entries = page.locator('.dialog-ux .auth-container')
    t.match(await entries.first().innerText(), /demoToken/)
    t.ok(await entries.first().locator('h4').isVisible(), 'the dialog shows its first entry')
    t.equal(await page.evaluate<number>(`document.querySelector('.modal-ux-content').scrollTop`), 0)
    t.same(await findings(page), [], 'axe finds nothing in the dialog')
    const dialog = page.locator('.dialog-ux')
    t.ok(await dialog.getByRole('group', { name: 'apiKey' }).getByRole('textbox').isVisible())
    const inputs = dialog.locator('input')
    t.same(await inputs.evaluateAll((all) => all.map((one) => one.getAttribute('type'))), ['password', 'password'])
    await dialog.getByRole('group', { name: 'platformHash' }).getByText('Value:').click()
    t.ok(
      await dialog.getByRole('group', { name: 'platformHash' }).locator('input:focus').isVisible(),
      'of its own label',
    )
    // The dialog of Swagger UI alone leaves the page behind it in the reach of Tab, and the focus there.
    await page.locator('#console .execute').evaluate((button) => (button as unknown as { focus(): void }).focus())
    t.equal(await dialog.locator(':focus').count(), 1, 'it keeps the focus')
    await dialog.getByRole('button', { name: 'Close' }).first().click()
    await page.locator('#console .authorize:focus').waitFor()
    const limit = page.locator('#console input[placeholder=limit]')
    t.equal(await limit.inputValue(), '', 'left to its default, which depends on `ids`')
    await limit.fill('2')
    await page.locator('#console .execute').click()
    const response = page.locator('#console .live-responses-table')
    await response.locator('.response-col_status').first().waitFor()
    const shown = await response.innerText()
    t.match(shown, /"count": 50/)
    t.same(await findings(page), [], 'nor in a response')
    t.match(shown, /ratelimit-remaining/)
    t.ok(requests.includes(`${url}/v1/devices?limit=2&offset=0`), 'the request went to this gateway')
    t.equal(await page.locator('main').count(), 1)
    await isLegible(t, page, desktop)
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
    await page.getByRole('textbox', { name: 'Body' }).fill(JSON.stringify({ platform_hash, label: 'From the console' }))
    await page.locator('#operation-createKey .execute').click()
    await page.getByText('"label": "From the console"').first().waitFor()
  })

  t.test('in a low window the dialog of the console is in reach, and a list of values is named', async (t) => {
    const low = { width: 844, height: 390 }
    const { page } = await open(t, low, `${url}/docs`)
    await page.locator(`${operation} .try`).click()
    await page.locator('#console .authorize').first().click()
    for (const button of [page.locator('.close-modal'), page.locator('.dialog-ux .btn').last()]) {
      await button.scrollIntoViewIfNeeded()
      const { y = -1, height = 0 } = (await button.boundingBox()) ?? {}
      t.ok(y >= 0 && y + height <= low.height)
    }
    await page.locator('#console dialog').evaluate((dialog) => (dialog as unknown as { close(): void }).close())
    await page.locator('.dialog-ux').waitFor({ state: 'detached' })
    await page.locator('#console .authorize').first().click()
    await page.keyboard.press('Escape')
    const ids = page.getByRole('group', { name: 'ids' })
    await ids.getByText('Add integer item').click()
    await ids.getByRole('textbox').fill('1001')
  })

  t.test('links of the page lead below the header, also once the console has been opened', async (t) => {
    const { page } = await open(t, desktop, `${url}/docs`)
    await openConsole(page)
    await page.locator('a[href="#error-not_found"]').first().click()
    await page.locator('#error-not_found:target').waitFor()
    const [[header], [entry]] = [await boxesOf(page, '.top'), await boxesOf(page, '#error-not_found')]
    t.ok(header && entry && entry.top >= header.bottom)
  })

  t.test('the console is in one place, also when another operation is opened while it loads', async (t) => {
    const { page } = await open(t, desktop)
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
  })

  t.test('without a network the page says that the console cannot be loaded', async (t) => {
    const { page } = await open(t, { ...desktop }, `${url}/docs`, /ERR_INTERNET_DISCONNECTED|Failed to fetch/)
    await page.context().setOffline(true)
    await page.locator(`${operation} .try`).click()
    await page.getByText('The console could not be loaded').waitFor({ timeout: 10_000 })
    await page.context().setOffline(false)
  })

  t.test('the example of history has recent days, in its code and in the console, where the focus moves', async (t) => {
    const { page } = await open(t, desktop, `${url}/docs`)
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
  })
}
