/** Debian's Chromium, driven by Playwright: opens pages, and fails a test whose page complains. */
import { existsSync } from 'node:fs'
import axe from 'axe-core'
import { chromium, type Page } from 'playwright-core'
import type { Test as Tap } from 'tap'
import type { Test } from '../helper.js'
import { until } from '../redis.js'

/** Without its windows, as Debian's chromium-headless-shell is, the browser takes two thirds of the processor time. */
const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const executablePath = programs.map((name) => `/usr/bin/${name}`).find(existsSync)
const args =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

/** For tap's `skip`: a reason where Chromium is missing. @throws in CI, where it must not be. */
export function withoutChromium(): string | false {
  if (executablePath) return false
  if (process.env.CI) throw new Error('chromium is missing, and CI tests nothing in a browser without it')
  return 'chromium is not installed: NOTHING is tested in a browser here'
}

export interface View {
  width: number
  height: number
  isScripted?: boolean
}

export const desktop: View = { width: 1400, height: 900 }
export const phone: View = { width: 390, height: 844 }

export type Open = Awaited<ReturnType<typeof browser>>

/**
 * Starts Chromium, which ends with the test.
 * @returns a function that opens an address, and fails its test when the page complains: of errors, warnings, exceptions, violations of the
 * content security policy, all but those that are expected. Tests of one view, the same object, have the same page one after the other: a
 * process of its own for each would more than double the processor time.
 */
export async function browser(t: Test) {
  const running = await chromium.launch({ executablePath: executablePath ?? '', args: args.split(' ') })
  t.teardown(() => running.close())
  const pages = new Map<View, Page>()
  return async (t: Test, view: View, address = 'about:blank', expected = /^$/) => {
    const { width, height, isScripted = true } = view
    const options = { viewport: { width, height }, isMobile: width < 600, javaScriptEnabled: isScripted }
    const page = pages.get(view) ?? (await running.newPage(options))
    pages.set(view, page)
    const requests: string[] = []
    const complaints: string[] = []
    page.on('request', (request) => requests.push(request.url()))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => {
      const { url } = message.location()
      // Of the JSON document that the last test has left for: its error may come this late.
      if (url.endsWith('/favicon.ico')) return
      if (['error', 'warning'].includes(message.type())) complaints.push(`${message.text()} ${url}`)
    })
    t.teardown(async () => {
      page.removeAllListeners()
      await page.unrouteAll()
      await page.emulateMedia({ media: null, colorScheme: null })
      // A page that is left open goes on to draw the map; one of another site takes a new process.
      const at = page.url()
      await page.goto(at.startsWith('http') ? new URL('/api/health', at).href : 'about:blank')
      const others = complaints.filter((complaint) => !expected.test(complaint))
      if (others.length > 0) throw new Error(others.join('\n'))
    })
    await page.goto(address)
    return { page, requests }
  }
}

/** Takes a screenshot for a person to look at, if there is a folder for it. */
export const keep = async (page: Page, name: string) => {
  const { PICTURES } = process.env
  if (PICTURES) await page.screenshot({ path: `${PICTURES}/${name}.png` })
}

/** Whether the console has followed the scheme, and no colour is in transition. */
const isSettled = (scheme: 'light' | 'dark') =>
  `document.documentElement.classList.contains('dark-mode') === ${scheme === 'dark'} && document.getAnimations().length === 0`

/** What axe complains of in an element, by all rules unless some are named. */
export async function findings(page: Page, element = 'html', ...runOnly: string[]): Promise<string[]> {
  await page.evaluate(axe.source)
  const options = { resultTypes: ['violations'], ...(runOnly.length > 0 && { runOnly }) }
  return page.evaluate<string[]>(
    `axe.run('${element}', ${JSON.stringify(options)}).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ' ' + html.slice(0, 120))))`,
  )
}

export const widthOf = 'document.documentElement.scrollWidth'

/** With the console open, in both schemes: every text of it has contrast, and nothing is wider than the screen. */
export async function isLegible(t: Tap, page: Page, { width }: View): Promise<void> {
  for (const colorScheme of ['dark', 'light'] as const) {
    const name = `console, ${colorScheme}, ${width} pixels`
    await page.emulateMedia({ colorScheme })
    await until(() => page.evaluate<boolean>(isSettled(colorScheme)))
    t.ok((await page.evaluate<number>(widthOf)) <= width, `${name}: nothing is wider than the screen`)
    t.same(await findings(page, '#console', 'color-contrast'), [], `${name}: every text of it has contrast`)
    await keep(page, name)
  }
}

export const operation = '#operation-listDevices'

/** Opens the console of the operation that lists devices. */
export async function openConsole(page: Page): Promise<void> {
  await page.locator(`${operation} .try`).click()
  await page.locator('#console[data-state=ready] .execute').waitFor()
}

export type Box = Record<'left' | 'top' | 'right' | 'bottom', number>

/** Where the elements are that are not hidden. */
export const boxesOf = (page: Page, selector: string): Promise<Box[]> =>
  page.evaluate<Box[]>(
    `[...document.querySelectorAll('${selector}')].filter((one) => one.getAttribute('visibility') !== 'hidden').map((one) => one.getBoundingClientRect().toJSON())`,
  )
