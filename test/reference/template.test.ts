/** The HTML files of the page: their placeholders and blocks. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { filled } from '../../src/reference/template.js'

const folder = 'src/reference/assets'
const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((file) => !file.isDirectory())
const textOf = (ending: string): string[] =>
  files
    .filter(({ name }) => name.endsWith(ending))
    .map(({ name, parentPath }) => readFileSync(`${parentPath}/${name}`, 'utf8'))

t.test('a value, a function of words, and the blocks for a service with or without a demo are filled', async (t) => {
  const html = '<a{{#demo}} b="{{b}}"{{/demo}}>{{^demo}}none{{/demo}}{{join c d}}{{#demo}}{{b}}{{/demo}}</a>'
  const values = { b: '$&', join: (...words: string[]) => words.join('+') }
  t.equal(filled(html, values, true), '<a b="$&">c+d$&</a>')
  t.equal(filled(html, values, false), '<a>nonec+d</a>')
})

t.test('a placeholder without a value is an error, and so is one of a block that is not complete', async (t) => {
  for (const html of ['{{name}}', '{{name a}}', '{{#demo}}a{{#demo}}b{{/demo}}'])
    t.throws(() => filled(html, { demo: '' }, true), /has no value/, html)
})

t.test('every block ends', async (t) => {
  for (const html of textOf('.html')) {
    const marks = (html.match(/\{\{[#^/]demo\}\}/g) ?? []).join('')
    t.match(marks, /^(\{\{[#^]demo\}\}\{\{\/demo\}\})*$/)
  }
})

t.test('every file of the folder is used', async (t) => {
  const users = [...textOf('.html'), ...textOf('.js'), readFileSync('src/reference/page.ts', 'utf8')].join('\n')
  t.ok(files.length > 20)
  const words = new Set(users.split(/[^\w.-]+/))
  t.same(
    files.map(({ name }) => name).filter((name) => !words.has(name)),
    [],
  )
})
