/** Debian's Chromium, driven by Playwright: opens pages and records every complaint and request. */
import { existsSync } from 'node:fs'
import { chromium, type Page } from 'playwright-core'
import type { Test } from '../helper.js'

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync)
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
  isStill?: boolean
  isScripted?: boolean
}

export interface Opened {
  page: Page
  /** Console errors and warnings, exceptions, violations of the content security policy. */
  complaints: string[]
  requests: string[]
}

/** Starts Chromium, which ends with the test. @returns a function that opens an empty page, which closes with the test that opened it. */
export async function browser(t: Test): Promise<(t: Test, view: View) => Promise<Opened>> {
  const running = await chromium.launch({ executablePath: executablePath ?? '', args: args.split(' ') })
  t.teardown(() => running.close())
  return async (t, { width, height, isStill = false, isScripted = true }) => {
    const context = await running.newContext({
      viewport: { width, height },
      isMobile: width < 600,
      javaScriptEnabled: isScripted,
      reducedMotion: isStill ? 'reduce' : 'no-preference',
    })
    // An open page goes on to draw the map.
    t.teardown(() => context.close())
    const page = await context.newPage()
    const opened: Opened = { page, complaints: [], requests: [] }
    page.on('request', (request) => opened.requests.push(request.url()))
    page.on('pageerror', (error) => opened.complaints.push(String(error)))
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()))
        opened.complaints.push(`${message.text()} ${message.location().url}`)
    })
    return opened
  }
}
