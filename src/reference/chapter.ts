/** What the chapters of the page are made of. Pure. */

/** The settings of the service that the page shows. */
export interface Facts {
  /** The address of the API as callers see it, without a trailing slash. */
  publicUrl: string
  /** undefined = this service has no demo. */
  demoToken: string | undefined
  rateLimitMax: number
  rateLimitWindowMs: number
  maxKeysPerAccount: number
}

/** A chapter of the page: its anchor, its heading, its HTML. */
export interface Chapter {
  id: string
  title: string
  html: string
}

/** Name and text of each row, the name as code. */
export const rows = (entries: [name: string, html: string][]): string =>
  `<dl class="rows">${entries.map(([name, html]) => `<div><dt><code>${name}</code></dt><dd>${html}</dd></div>`).join('\n')}</dl>`
