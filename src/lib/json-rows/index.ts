/** What other folders use of the JSON row reader. */
export { EnvelopeTooLarge } from './envelope.js'
export { RowReader, type RowReaderOptions, RowTooLarge } from './reader.js'
export { fieldReader, type RowShape, recordMaker } from './row-text.js'
export type { Row } from './wasm-row.js'
