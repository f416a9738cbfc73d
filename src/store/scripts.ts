/** The commands that Redis runs atomically. Each touches one key, so that all of them work in a cluster. */
import { maxTime } from './record.js'

/** The fields of a record; `used` is null when there is no such key. */
type Fields = [used: string | null, limit: string | null, record: string | null]

/**
 * What each command replies; `damaged` = the key holds a value of another type, or a record without `used`. Those in capitals are commands of
 * Redis itself. Values are in parentheses, in order; times are epoch milliseconds.
 */
export interface Replies {
  find: Fields | 'damaged'
  /**
   * (windowMs) Finds and counts, in a window by the clock of Redis. The count is part of the record and ends with it. It is null where a server
   * is full or cannot save, but still has every revocation. A demoted server may lack some, so there the command fails.
   */
  use: [...Fields, current: number | null, ttlMs: number] | 'damaged'
  /** (windowMs) */
  increment: [current: number, ttlMs: number]
  /** Changes nothing, but fails wherever `increment` would. */
  read: [current: number, ttlMs: number]
  /** (fields, expiresAt) Fails where that has passed by the clock of Redis, which would drop the record at once. */
  write: unknown
  /** (old fields, new fields) Replaces a record unless it has changed; 0 = changed, or no such key. */
  replace: number
  /**
   * (id, entry, max, now) Adds an entry to an owner's index and removes those that have expired by the clock of Redis, too; 0 = refused, as
   * `max` others are active.
   */
  reserve: number | 'damaged'
  /** (id, entry) Removes an entry unless it has changed. */
  prune: unknown
  HGETALL: string[] | 'damaged'
  GET: string | null
  HDEL: unknown
  DEL: number
  SET: unknown
}
export type Command = keyof Replies

/**
 * ARGV holds a command and its values, which are the same for all of KEYS; the reply holds one element per key. A value of the wrong type
 * becomes an error as the element of its key; counters and windows with invalid values start again, also those that end too late: the clock
 * of the server was set back. All other errors (READONLY, OOM, a denied right) fail the whole call; only `use` tolerates OOM and MISCONF. A
 * record always has the field `used`: without it `use` and `replace` write nothing, so that no late write revives a revoked key. One function
 * for all commands: a call spends 0.4 µs on each function it defines.
 */
export const performScript = `
local function call(...)
  local reply = redis.pcall(...)
  local failure = type(reply) == 'table' and reply.err
  if failure and not (string.find(failure, 'WRONGTYPE', 1, true) or string.find(failure, 'not an integer', 1, true) or
    string.find(failure, 'overflow', 1, true)) then error(failure, 0) end
  return reply
end
local function perform(command, key, ...)
  local a, b, c, d, e, f = ...
  if command == 'find' or command == 'use' then
    local found = call('HMGET', key, 'used', 'limit', 'record', 'count', 'until')
    if found.err then return found end
    if not found[1] then return redis.call('PTTL', key) == -2 and found or { err = 'WRONGTYPE no field used' } end
    if command == 'find' then return { found[1], found[2], found[3] } end
    local time, window, count, last = redis.call('TIME'), tonumber(a), tonumber(found[4]), tonumber(found[5])
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    local isOpen = count and count >= 0 and count < 2 ^ 53 and last and last > now and last <= now + window
    if not isOpen then count, last = 0, now + window end
    local counted = redis.pcall('HSET', key, 'count', count + 1, 'until', last)
    local failure = type(counted) == 'table' and counted.err
    if failure and not (string.find(failure, 'OOM', 1, true) or string.find(failure, 'MISCONF', 1, true)) then
      error(failure, 0)
    end
    found[4], found[5] = not failure and count + 1, last - now
    return found
  elseif command == 'increment' then
    local current, ttl = call('INCR', key), redis.call('PTTL', key)
    if type(current) == 'table' or ttl > tonumber(a) then
      call('SET', key, 1, 'PX', a)
      return { 1, tonumber(a) }
    end
    if ttl < 0 then redis.call('PEXPIRE', key, a) end
    return { current, ttl < 0 and tonumber(a) or ttl }
  elseif command == 'read' then
    if type(call('SETRANGE', key, 0, '')) == 'table' then return { 0, 0 } end
    return { tonumber(redis.call('GET', key)) or 0, math.max(0, redis.call('PTTL', key)) }
  elseif command == 'write' then
    if tonumber(d) <= redis.call('TIME')[1] * 1000 then error('The key has expired by the clock of Redis', 0) end
    call('HSET', key, 'used', a, 'limit', b, 'record', c)
    return call('PEXPIREAT', key, d)
  elseif command == 'replace' then
    local found = call('HMGET', key, 'used', 'limit', 'record')
    if found[1] ~= a or found[2] ~= b or found[3] ~= c then return 0 end
    call('HSET', key, 'used', d, 'limit', e, 'record', f)
    return 1
  elseif command == 'prune' then
    return call('HGET', key, a) == b and call('HDEL', key, a) or 0
  elseif command == 'reserve' then
    local form = '^' .. string.rep('[0-9a-f]', 64) .. ' (%d+) %d+$'
    local entries, others, last = call('HGETALL', key), 0, tonumber(string.match(b, form))
    if entries.err then return entries end
    local time = redis.call('TIME')
    for i = 1, #entries, 2 do
      local expiresAt = tonumber(string.match(entries[i + 1], form)) or math.huge
      if expiresAt <= tonumber(d) then
        if expiresAt <= time[1] * 1000 + time[2] / 1000 then call('HDEL', key, entries[i]) end
      elseif expiresAt <= ${maxTime} and entries[i] ~= a then
        others, last = others + 1, math.max(last, expiresAt)
      end
    end
    if others >= tonumber(c) then return 0 end
    call('HSET', key, a, b)
    return call('PEXPIREAT', key, last)
  end
  return call(command, key, ...)
end
local replies = {}
for i, key in ipairs(KEYS) do replies[i] = perform(ARGV[1], key, unpack(ARGV, 2)) end
return replies`
