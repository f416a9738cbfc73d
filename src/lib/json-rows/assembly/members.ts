/** What the next member of a record most likely is: the one that followed the last time. Knows no values. */

const MOST_MEMBERS: usize = 512
/** Shapes that one reader tells apart. */
export const MOST_SHAPES: usize = 64
/** Members passed over in search of one that came. */
const FURTHEST: i32 = 4

// A member: `"name":` and a mask of the same length, 32 bytes each with zeros behind them, and these words.
const MASK: usize = 32
const LENGTH: usize = 64
const FIELD: usize = 68
export const NEXT: usize = 72
const MEMBER_BYTES: usize = 80
const LONGEST: usize = 32

const firsts: usize = 1024
const members: usize = firsts + MOST_SHAPES * 4
export const membersEnd: usize = members + MOST_MEMBERS * MEMBER_BYTES

let free: usize = members
/** Changes when all is forgotten: no link from before may be used. */
export let generation: u32 = 0

/** A link is where the number of a member is kept, and 0 where there is none to be kept: this is the first of a shape. */
@inline
export function firstLink(shape: usize): usize {
  return firsts + (shape << 2)
}

@inline
function starts(at: usize, member: usize): bool {
  if (v128.any_true(v128.xor(v128.and(v128.load(at), v128.load(member, MASK)), v128.load(member)))) return false
  if (load<u32>(member, LENGTH) <= 16) return true
  return !v128.any_true(v128.xor(v128.and(v128.load(at, 16), v128.load(member, MASK + 16)), v128.load(member, 16)))
}

/** The member at `at` that follows a link, or 0. */
@inline
export function expected(link: usize, at: usize): usize {
  let member = link == 0 ? 0 : <usize>load<u32>(link)
  for (let passed = 0; member != 0 && passed < FURTHEST; passed++) {
    if (starts(at, member)) return member
    member = <usize>load<u32>(member, NEXT)
  }
  return 0
}

/** The field of a member, 0 where it is not kept, and the bytes of its name up to the value. */
@inline
export function fieldOfMember(member: usize): usize {
  return <usize>load<u32>(member, FIELD)
}

@inline
export function lengthOf(member: usize): usize {
  return <usize>load<u32>(member, LENGTH)
}

/** Remembers that the member at `at`, so long with its quotes and colon, follows a link, unless another does; returns the link behind it. */
export function learn(link: usize, at: usize, length: usize, field: usize): usize {
  if (link == 0 || length > LONGEST || load<u32>(link) != 0) return link
  if (free == membersEnd) {
    free = members
    memory.fill(firsts, 0, MOST_SHAPES * 4)
    generation++
    return 0
  }
  const member = free
  free += MEMBER_BYTES
  memory.fill(member, 0, MEMBER_BYTES)
  memory.copy(member, at, length)
  memory.fill(member + MASK, 0xff, length)
  store<u32>(member, <u32>length, LENGTH)
  store<u32>(member, <u32>field, FIELD)
  store<u32>(link, <u32>member)
  return member + NEXT
}
