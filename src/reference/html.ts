/** HTML escaping, Markdown, and code blocks with syntax highlighting. Pure. */
import { parse } from 'node:path'

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] as string)

/** Escaped text with `code` as an element. */
export const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** Headings, lists and paragraphs of the Markdown of CHANGELOG.md, without its title. */
export function markdown(text: string): string {
  const [, ...blocks] = text.trim().split(/\n{2,}/)
  const elements = blocks.map((block) => {
    if (block.startsWith('## ')) return `<h3>${prose(block.slice(3))}</h3>`
    if (!block.startsWith('- ')) return `<p>${prose(block)}</p>`
    const items = block.slice(2).split(/\n- /)
    return `<ul>${items.map((item) => `<li>${prose(item)}</li>`).join('\n')}</ul>`
  })
  return elements.join('\n')
}

/** The languages of code blocks, with the ending of their files and the pattern of a comment; `json` is a response. */
const languages = {
  shell: { name: 'curl', ending: '.sh', comment: '#.*' },
  javascript: { name: 'JavaScript', ending: '.js', comment: '//.*' },
  typescript: { name: 'TypeScript', ending: '.mts', comment: '//.*' },
  python: { name: 'Python', ending: '.py', comment: '#.*' },
  json: { name: 'JSON', ending: '.json', comment: '(?!)' },
}

type Language = keyof typeof languages

const byEnding = new Map(Object.entries(languages).map(([language, { ending }]) => [ending, language as Language]))

const strings = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\``
const keywords =
  '\\b(?:async|await|break|catch|const|continue|def|else|except|export|False|false|for|from|function|if|import|in|let|new|None|null|of|return|throw|True|true|while|with|yield)\\b'

/** Escaped code with comments, strings and keywords in spans. */
function highlighted(code: string, language: Language): string {
  const words = language === 'shell' ? '\\bcurl\\b' : keywords
  const token = new RegExp(`(${languages[language].comment})|(${strings})|(${words})`)
  // Every text between tokens is followed by the three groups of a token, one of which has matched.
  const parts = code.split(token).map((part = '', at) => {
    const kind = ['', 'c', 's', 'k'][at % 4]
    return kind && part ? `<span class="${kind}">${escaped(part)}</span>` : escaped(part)
  })
  return parts.join('')
}

/** A code block that can be scrolled with the keyboard. @param name identifies it for tests and screen readers. */
export function codeBlock(name: string, language: Language, code: string, caption?: string): string {
  const kind = language === 'shell' && !code.startsWith('curl') ? 'Shell' : languages[language].name
  return `<figure class="code ${language}"><figcaption>${escaped(caption ?? kind)}</figcaption>
<pre tabindex="0" role="region" aria-label="${escaped(name)}, ${kind}"><code id="code-${escaped(name)}" data-language="${language}">${highlighted(code, language)}</code></pre></figure>`
}

export type Sample = [language: Language, code: string]

/** One code block per language, of which the page shows the chosen one. Its blocks are named `<name>-<language>`. */
export function codeTabs(name: string, samples: Sample[]): string {
  const tab = ([language]: Sample, at: number): string =>
    `<label><input type="radio" name="language-${name}" value="${language}"${at === 0 ? ' checked' : ''}> ${languages[language].name}</label>`
  const blocks = samples.map(([language, code]) => codeBlock(`${name}-${language}`, language, code))
  return `<div class="samples"><fieldset><legend>Language of ${name}</legend>${samples.map(tab).join('')}</fieldset>
${blocks.join('\n')}</div>`
}

/** The code in files of one name, with an ending for each language. @param text the text of a file. */
export function codeExample([file = '', ...others]: string[], text: (file: string) => string): string {
  const { name } = parse(file)
  const sampleOf = (path: string): Sample => [byEnding.get(parse(path).ext) ?? 'json', text(path).trimEnd()]
  return others.length === 0 ? codeBlock(name, ...sampleOf(file)) : codeTabs(name, [file, ...others].map(sampleOf))
}
