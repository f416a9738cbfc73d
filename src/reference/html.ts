/** HTML as text: escaping, and code blocks with their words coloured. Pure; knows no content. */

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

export const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] as string)

/** Escaped text in which `code` is marked up as such. */
export const prose = (text: string): string => escaped(text).replace(/`([^`]+)`/g, '<code>$1</code>')

/** What a code block is written in; `json` is an answer, shown and not run. */
export type Language = 'shell' | 'javascript' | 'python' | 'json'

const names: Record<Language, string> = { shell: 'curl', javascript: 'JavaScript', python: 'Python', json: 'JSON' }

const comment = { shell: '#.*', javascript: '//.*', python: '#.*', json: '(?!)' }
const strings = `"(?:[^"\\\\\\n]|\\\\.)*"|'(?:[^'\\\\\\n]|\\\\.)*'|\`[^\`]*\``
const keywords =
  '\\b(?:async|await|break|catch|const|continue|def|else|except|export|False|false|for|from|function|if|import|in|let|new|None|null|of|return|throw|True|true|while|with|yield)\\b'

/** Comments, strings and keywords in spans; everything escaped. */
function coloured(code: string, language: Language): string {
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

/** A named code block that can be scrolled with the keyboard. @param name tells tests and readers which block it is. */
export function codeBlock(name: string, language: Language, code: string): string {
  return `<figure class="code"><figcaption>${names[language]}</figcaption>
<pre tabindex="0" aria-label="${escaped(name)}, ${names[language]}"><code id="code-${escaped(name)}" data-language="${language}">${coloured(code, language)}</code></pre></figure>`
}
