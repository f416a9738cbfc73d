/** HTML escaping, and code blocks with syntax highlighting. Pure. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] as string)

/** Escaped text with `code` as an element. */
export const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** The language of a code block; `json` is a response. */
export type Language = 'shell' | 'javascript' | 'python' | 'json'

const names: Record<Language, string> = { shell: 'curl', javascript: 'JavaScript', python: 'Python', json: 'JSON' }

const comment = { shell: '#.*', javascript: '//.*', python: '#.*', json: '(?!)' }
const strings = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\``
const keywords =
  '\\b(?:async|await|break|catch|const|continue|def|else|except|export|False|false|for|from|function|if|import|in|let|new|None|null|of|return|throw|True|true|while|with|yield)\\b'

/** Escaped code with comments, strings and keywords in spans. */
function highlighted(code: string, language: Language): string {
  const words = language === 'shell' ? '\\bcurl\\b' : keywords
  const token = new RegExp(`(?<c>${comment[language]})|(?<s>${strings})|(?<k>${words})`, 'g')
  let html = ''
  let end = 0
  for (const match of code.matchAll(token)) {
    const kind = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined)?.[0]
    html += `${escaped(code.slice(end, match.index))}<span class="${kind}">${escaped(match[0])}</span>`
    end = match.index + match[0].length
  }
  return html + escaped(code.slice(end))
}

/** A code block that can be scrolled with the keyboard. @param name identifies it for tests and screen readers. */
export function codeBlock(name: string, language: Language, code: string): string {
  return `<figure class="code"><figcaption>${names[language]}</figcaption>
<pre tabindex="0" aria-label="${escaped(name)}, ${names[language]}"><code id="code-${escaped(name)}" data-language="${language}">${highlighted(code, language)}</code></pre></figure>`
}
