/** The value of a JSON text, also after a byte order mark; undefined for any other text. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text.trimStart())
  } catch {
    return undefined
  }
}
