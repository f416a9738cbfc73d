/** A copy of a text that may be a part of a longer one: V8 keeps all of that for as long as the part. */
export const copied = (text: string): string => Buffer.from(text).toString()
