/** What Redis runs by itself, atomically: every script touches the keys of one hash slot only, or runs on a server without slots. */
import { MAX_TIME, TOUCH_EVERY_MS } from './record.js'

/**
 * Performs one command per key. ARGV holds a command, a value and for how many of KEYS they are meant, again and again; the reply holds
 * one element for each key. A key that holds anything else than a record yields an error as its element and leaves the others alone; a
 * counter that is no counter starts anew. Errors that concern the server (READONLY, OOM) fail the whole call.
 * The requests of a key are counted beside its record, in a window by the clock of Redis, and are gone with it.
 * Who uses a key again has read its record, which is written once, and receives only its length.
 * Reading a counter writes nothing into it, so that it fails wherever the counter could not be counted.
 * A key record always has the field `used`, so its absence means there is no such record, and nothing revives one.
 */
export const PERFORM = `
local function fields(key, ...)
  local found = redis.pcall('HMGET', key, 'used', 'limit', ...)
  if not found.err and not found[1] and redis.call('EXISTS', key) == 1 then return { err = 'DAMAGED no field used' } end
  return found
end
local function use(key, window, content)
  local found = fields(key, 'count', 'until')
  if found.err or not found[1] then return found end
  local seconds, microseconds = unpack(redis.call('TIME'))
  local now, count, last = seconds * 1000 + math.floor(microseconds / 1000), tonumber(found[3]), tonumber(found[4])
  local isOpen = count and count >= 0 and count < 2 ^ 53 and last and last > now and last <= now + window
  if not isOpen then count, last = 0, now + window end
  redis.call('HSET', key, 'count', count + 1, 'until', last)
  return { found[1], found[2], count + 1, last - now, redis.call(content, key, 'record') }
end
local commands = {}
function commands.find(key) return fields(key, 'record') end
function commands.use(key, window) return use(key, tonumber(window), 'HGET') end
function commands.again(key, window) return use(key, tonumber(window), 'HSTRLEN') end
function commands.increment(key, window)
  local current = redis.pcall('INCR', key)
  if type(current) == 'table' then
    redis.call('SET', key, 1, 'PX', window)
    return { 1, tonumber(window) }
  end
  local ttl = redis.call('PTTL', key)
  if ttl < 0 then
    ttl = tonumber(window)
    redis.call('PEXPIRE', key, ttl)
  end
  return { current, ttl }
end
function commands.read(key)
  if type(redis.pcall('SETRANGE', key, 0, '')) == 'table' then redis.call('SET', key, 0, 'PX', 1) end
  return { tonumber(redis.call('GET', key)) or 0, math.max(0, redis.call('PTTL', key)) }
end
function commands.touch(key, at)
  local used = redis.pcall('HGET', key, 'used')
  if type(used) ~= 'string' or tonumber(at) - (tonumber(used) or 0) < ${TOUCH_EVERY_MS} then return 0 end
  return redis.call('HSET', key, 'used', at)
end
function commands.limit(key, requests)
  if redis.pcall('HEXISTS', key, 'used') ~= 1 then return 0 end
  redis.call('HSET', key, 'limit', requests)
  return 1
end
local replies = {}
for run = 1, #ARGV, 3 do
  for _ = 1, tonumber(ARGV[run + 2]) do
    local at = #replies + 1
    replies[at] = commands[ARGV[run]](KEYS[at], ARGV[run + 1])
  end
end
return replies`

/** KEYS: the record. ARGV: the record as JSON, when it was last used, its limit, when it expires. */
export const WRITE = `
redis.call('HSET', KEYS[1], 'record', ARGV[1], 'used', ARGV[2], 'limit', ARGV[3])
return redis.call('PEXPIREAT', KEYS[1], ARGV[4])`

/**
 * Puts an entry (`digest expiresAt reservedAt`) into the index of an owner unless `max` others are active; drops expired ones. Entries of
 * another form are damaged and do not count.
 * KEYS: the index. ARGV: id, entry, max, now.
 */
export const RESERVE = `
local form = '^' .. string.rep('[0-9a-f]', 64) .. ' (%d+) %d+$'
local function expiry(entry)
  local expiresAt = tonumber(string.match(entry, form))
  return expiresAt and expiresAt <= ${MAX_TIME} and expiresAt
end
local entries = redis.call('HGETALL', KEYS[1])
local others, last = 0, expiry(ARGV[2])
for i = 1, #entries, 2 do
  local id, expiresAt = entries[i], expiry(entries[i + 1])
  if expiresAt and expiresAt <= tonumber(ARGV[4]) then
    redis.call('HDEL', KEYS[1], id)
  elseif expiresAt and id ~= ARGV[1] then
    others = others + 1
    last = math.max(last, expiresAt)
  end
end
if others >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIREAT', KEYS[1], last)
return 1`

/** Drops an entry from an index if it still is what the caller saw. KEYS: the index. ARGV: id, entry. */
export const PRUNE = `
if redis.call('HGET', KEYS[1], ARGV[1]) == ARGV[2] then return redis.call('HDEL', KEYS[1], ARGV[1]) end
return 0`
