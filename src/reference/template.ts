/** The HTML files of the page: filled with values, and their headings as links. Pure. */

/** By name what fills `{{name}}`, as HTML; a function fills `{{name word word}}` with the words. */
export type Values = Record<string, string | ((...words: string[]) => string)>

/**
 * The HTML with its placeholders filled. Of the blocks `{{#demo}}…{{/demo}}` and `{{^demo}}…{{/demo}}`, the first remains
 * with a demo, the second without.
 * @throws for a placeholder without a value.
 */
export function filled(html: string, values: Values, hasDemo: boolean): string {
  const [kept, dropped] = hasDemo ? ['{{#demo}}', '{{^demo}}'] : ['{{^demo}}', '{{#demo}}']
  const parts = html.split('{{/demo}}').map((part) => part.split(dropped, 1)[0]?.replace(kept, ''))
  return parts.join('').replace(/\{\{([^{}]+)\}\}/g, (_, placeholder: string) => {
    const [name = '', ...words] = placeholder.split(' ')
    const value = values[name]
    if (value === undefined) throw new Error(`{{${placeholder}}} has no value`)
    return typeof value === 'string' ? value : value(...words)
  })
}

const heading = /<section id="([\w-]+)">\n<h2>([^<]+)<\/h2>/g

/** The HTML with the heading of each chapter as a link to itself. */
export const linked = (html: string): string =>
  html.replace(heading, '<section id="$1" aria-labelledby="$1-title"><h2 id="$1-title"><a href="#$1">$2</a></h2>')

/** Links to the chapters of the HTML. */
export function contents(html: string): string {
  const links = [...html.matchAll(heading)].map(([, id, title]) => `<li><a href="#${id}">${title}</a></li>`)
  return `<ul>${links.join('')}</ul>`
}
