/** Reads a JSON answer as its bytes arrive and keeps only what shapes name; knows no transport and no action's fields. */

import { pushRead } from '../../platform/shape.js'
import type { Member, Plan } from './projector-plan.js'
import * as json from './projector-table.js'
import { type Frame, KeptText } from './projector-text.js'
import { mostInput, type Row, UNREAD } from './row.js'

/** Bytes looked at in one go; longer chunks are cut. */
const PIECE = 1 << 16
/** Kept bytes after which values are built of them. */
const BATCH = 1 << 14
const MAX_DEPTH = 512
/** Longer rows are read the long way; and how deep a row may lie, so that nothing in it is too deep. */
const LONGEST_ROW = 1 << 16
const DEEPEST_ROW = MAX_DEPTH - 64
const NULL = Buffer.from('null')
const SPACE = Buffer.from(' ')

/** For plans without rows. */
const plainInput = Buffer.alloc(mostInput)
const NOTHING = Buffer.alloc(0)

/** A record or list whose members are being chosen: the plan of the record, or of each item. `some`: at least one member was kept. */
interface Kept extends Frame {
  plan: Plan
  some: boolean
}

/** Takes a row as it arrives and gives what stands for it in the document. Not every row comes this way. */
export type OnRow = (row: Row) => object

/**
 * `JSON.parse` for bodies much larger than what is read of them. For each shape of the plan, `read(shape, projector.end())` is what
 * `read(shape, JSON.parse(text))` would be, whatever the bytes and however they are cut; invalid UTF-8 reads as U+FFFD.
 * Nesting deeper than 512 levels is refused. Memory is what is kept and some hundred KiB.
 * @throws SyntaxError from `write` or `end` where `JSON.parse` throws one; the projector is of no use afterwards.
 */
export class Projector {
  readonly #text = new KeptText()
  readonly #frames: Kept[]
  #state = json.START
  #offset = 0
  #end = 0
  #at = 0
  #depth = 0
  /** Which of the records and lists that nobody reads are lists, outermost first, and how many are open. */
  readonly #lists = new Uint8Array(MAX_DEPTH + 1)
  #skipped = 0
  /** The plan of the member being read, none where it is not kept. */
  #plan: Plan | undefined
  /** Where in the input the bytes start that go to the text as they are, -1 while there are none. */
  #span = 0
  /** Where in the input the current member of a record starts: its comma, or the first byte of the record. */
  #member = 0
  /** Where in the text a key starts that is cut or escaped, -1 while there is none. */
  #stashed = -1

  /** The piece being looked at, for the time of one `write`, and a zero byte, which is nothing of JSON. */
  readonly #input: Buffer
  /** The start of a row whose end is still to come, and how many bytes it is worth looking at again. */
  #rest = NOTHING
  #enough = 0
  #isLast = false

  readonly #onRow: OnRow | undefined

  constructor(plan: Plan, onRow?: OnRow) {
    this.#onRow = onRow
    this.#input = plan.input ?? plainInput
    this.#frames = [{ closer: json.CLOSE_LIST_BYTE, name: '', plan, some: false }]
  }

  /** Bytes of the text kept so far. */
  get kept(): number {
    return this.#text.total
  }

  write(chunk: Uint8Array): void {
    const input = this.#input
    for (let from = 0; from < chunk.length; from += PIECE) {
      const piece = chunk.subarray(from, from + PIECE)
      input.set(this.#rest)
      input.set(piece, this.#rest.length)
      this.#end = this.#rest.length + piece.length
      input[this.#end] = 0
      const read = this.#end < this.#enough && !this.#isLast ? 0 : this.#scan()
      this.#rest = read < this.#end ? Buffer.from(input.subarray(read, this.#end)) : NOTHING
      this.#offset += read
    }
  }

  /** The document's kept part. */
  end(): unknown {
    this.#isLast = true
    this.write(SPACE)
    if (this.#state !== json.AFTER || this.#depth > 0) this.#fail()
    this.#text.fold(this.#frames, 0)
    return this.#text.document()
  }

  #fail(): never {
    throw new SyntaxError(`no JSON at byte ${this.#offset + this.#at}`)
  }

  /** Reads the input, if need be up to a row whose end is still to come; returns how far. */
  #scan(): number {
    const { STEP, STATES } = json // imported names are looked up each time
    const bytes = this.#input
    let at = 0
    let state = this.#state
    let isWaiting = false
    while (!isWaiting) {
      let next = STEP[(state << 8) | bytes[at]!]!
      while (next >= STATES) {
        state = next
        next = STEP[(state << 8) | bytes[++at]!]!
      }
      this.#at = at
      if (next === json.STOP) break
      const after = next <= json.SKIP_CLOSE ? this.#skip(next) : this.#act(next)
      isWaiting = after === json.STOP
      if (isWaiting) break
      state = after
      at = this.#at + 1
    }
    if (at < this.#end && !isWaiting) this.#fail()
    this.#enough = isWaiting ? Math.min(2 * (this.#end - at), LONGEST_ROW) : 0
    this.#state = state
    if (state >= json.KEY && state <= json.LAST_OF_KEY) this.#stash(at)
    else if (this.#span >= 0) {
      this.#cut(at)
      this.#span = 0
    }
    return at
  }

  /** A bracket of what nobody reads. */
  #skip(bracket: number): number {
    if (bracket !== json.SKIP_CLOSE) return this.#skipInto(bracket === json.SKIP_LIST)
    this.#skipped--
    if (this.#skipped === 0) return json.AFTER
    return this.#lists[this.#skipped] === 1 ? json.AFTER_SKIPPED_ITEM : json.AFTER_SKIPPED_MEMBER
  }

  #skipInto(isList: boolean): number {
    if (this.#depth + this.#skipped === MAX_DEPTH) this.#fail()
    this.#lists[++this.#skipped] = Number(isList)
    return isList ? json.SKIPPED_ITEM_OR_END : json.SKIPPED_KEY_OR_END
  }

  /** What a byte of what is read asks for, and the state behind it. */
  #act(action: number): number {
    if (action === json.KEYED) return this.#keyed()
    if (action === json.COMMA) return this.#comma()
    if (action === json.CLOSE) return this.#close()
    if (action === json.OPEN_RECORD || action === json.OPEN_LIST) return this.#open(action === json.OPEN_LIST)
    if (action === json.KEYED_WITH_ESCAPES) return this.#longKeyed()
    this.#text.length = 1
    this.#span = this.#at + 1
    return json.VALUE
  }

  /** Ends the span before `end` and moves it to the text. */
  #cut(end: number): void {
    if (this.#span >= 0) this.#text.append(this.#input, this.#span, end)
    this.#span = -1
  }

  #keyed(): number {
    if (this.#stashed >= 0) return this.#longKeyed()
    const frame = this.#frames[this.#depth]!
    let from = this.#member
    while (this.#input[from++] !== json.QUOTE);
    return this.#choose(frame, frame.plan.find(this.#input, from, this.#at))
  }

  #longKeyed(): number {
    this.#stash(this.#at + 1)
    const frame = this.#frames[this.#depth]!
    const member = frame.plan.named(this.#text.stringSince(this.#stashed + Number(frame.some)))
    if (member === undefined) this.#text.length = this.#stashed
    else this.#span = this.#at + 1
    this.#stashed = -1
    return this.#choose(frame, member)
  }

  /** A key that is cut or escaped goes to the text up to `end`, and is taken back once it names nothing kept. */
  #stash(end: number): void {
    if (this.#stashed < 0) {
      this.#cut(this.#member)
      this.#stashed = this.#text.length
      const isLone = !this.#frames[this.#depth]!.some && this.#input[this.#member] === json.COMMA_BYTE
      this.#span = this.#member + Number(isLone)
    } else this.#span = 0
    this.#cut(end)
  }

  #choose(frame: Kept, member: Member | undefined): number {
    this.#plan = member?.plan
    if (member === undefined) {
      this.#cut(this.#member)
      return json.COLON
    }
    if (this.#span < 0) this.#span = this.#member + Number(!frame.some)
    frame.some = true
    frame.name = member.name
    return json.COLON
  }

  /** A record or list: chosen from, or null in its place where no shape looks into it. */
  #open(isList: boolean): number {
    const frame = this.#frames[this.#depth]!
    const plan = frame.closer === json.CLOSE_LIST_BYTE ? frame.plan : this.#plan
    const inner = isList ? plan?.items : plan?.keepsRecords ? plan : undefined
    if (inner === undefined) {
      this.#cut(this.#at)
      if (plan !== undefined) this.#text.append(NULL, 0, NULL.length)
      return this.#skipInto(isList)
    }
    if (!isList && inner.row !== undefined && frame.closer === json.CLOSE_LIST_BYTE && this.#depth < DEEPEST_ROW) {
      const after = this.#readRow(inner.row)
      if (after !== undefined) return after
    }
    if (this.#depth === MAX_DEPTH) this.#fail()
    const closer = isList ? json.CLOSE_LIST_BYTE : json.CLOSE_RECORD_BYTE
    this.#frames[++this.#depth] = { closer, name: '', plan: inner, some: false }
    if (this.#span < 0) this.#span = this.#at
    this.#member = this.#at + 1
    return isList ? json.ITEM_OR_END : json.KEY_OR_END
  }

  /** A row in one go; none where it has to be read the long way, and `STOP` where its end is not here yet. */
  #readRow(row: Row): number | undefined {
    const end = row.read(this.#at)
    if (end === UNREAD) return this.#isLast || this.#end - this.#at >= LONGEST_ROW ? undefined : json.STOP
    this.#cut(this.#at)
    const list = this.#text.list(this.#frames, this.#depth, row.length)
    if (this.#onRow === undefined) pushRead(list, row.shape, row.record())
    else list.push(this.#onRow(row))
    this.#at = end - 1
    return json.AFTER
  }

  #comma(): number {
    if (this.#depth === 0) this.#fail()
    if (this.#text.length > BATCH) {
      this.#cut(this.#at)
      this.#text.fold(this.#frames, this.#depth)
    }
    this.#member = this.#at
    if (this.#frames[this.#depth]!.closer === json.CLOSE_RECORD_BYTE) return json.KEY
    if (this.#span < 0) this.#span = this.#at
    return json.VALUE
  }

  #close(): number {
    if (this.#depth === 0 || this.#input[this.#at] !== this.#frames[this.#depth]!.closer) this.#fail()
    if (this.#depth === this.#text.built - 1) {
      this.#cut(this.#at)
      this.#text.close(this.#frames, this.#depth)
    } else if (this.#span < 0) this.#span = this.#at
    this.#stashed = -1
    this.#depth--
    return json.AFTER
  }
}
