/** What other folders use of the JSON row reader. */
export { TooLarge } from './envelope.js'
export { hasTooManyNames } from './names.js'
export { RowReader, type RowReaderOptions } from './reader.js'
export { fieldReader, type RowShape, recordMaker } from './row-text.js'
export type { Row } from './wasm-row.js'
