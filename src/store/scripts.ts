/** What Redis runs by itself, atomically: every script touches the keys of one hash slot only, or runs on a server without slots. */
import { TOUCH_EVERY_MS } from './store.js'

/**
 * Performs one thing per key. ARGV holds a verb, a value and for how many of KEYS they are meant, again and again; the reply holds one
 * answer for each key.
 * The requests of a key are counted beside its record, in a window by the clock of Redis, and are gone with it.
 * Who uses a key again has read its record, which is written once, and is spared it.
 * Reading a counter writes nothing into it, so that it fails wherever the counter could not be counted.
 * A key record always has the field `used`, so its absence means there is no such record, and nothing revives one.
 */
export const PERFORM = `
local answers = {}
local function perform(i, key, verb, value)
  if verb == 'find' then
    answers[i] = redis.call('HMGET', key, 'record', 'used', 'limit')
  elseif verb == 'use' or verb == 'again' then
    local found = redis.call('HMGET', key, 'used', 'limit', 'count', 'until')
    if found[1] then
      local seconds, microseconds = unpack(redis.call('TIME'))
      local now, count, last = seconds * 1000 + math.floor(microseconds / 1000), tonumber(found[3]), tonumber(found[4])
      if not last or last <= now then count, last = 0, now + tonumber(value) end
      redis.call('HSET', key, 'count', count + 1, 'until', last)
      found[3], found[4] = count + 1, last - now
      if verb == 'use' then found[5] = redis.call('HGET', key, 'record') end
    end
    answers[i] = found
  elseif verb == 'increment' then
    local current, ttl = redis.call('INCR', key), redis.call('PTTL', key)
    if ttl < 0 then
      ttl = tonumber(value)
      redis.call('PEXPIRE', key, ttl)
    end
    answers[i] = { current, ttl }
  elseif verb == 'read' then
    redis.call('SETRANGE', key, 0, '')
    answers[i] = { tonumber(redis.call('GET', key) or 0), math.max(0, redis.call('PTTL', key)) }
  elseif verb == 'touch' then
    local used = redis.call('HGET', key, 'used')
    if used and tonumber(value) - tonumber(used) >= ${TOUCH_EVERY_MS} then redis.call('HSET', key, 'used', value) end
    answers[i] = 0
  elseif verb == 'limit' then
    answers[i] = redis.call('HEXISTS', key, 'used')
    if answers[i] == 1 then redis.call('HSET', key, 'limit', value) end
  end
end
local i = 0
for run = 1, #ARGV, 3 do
  for _ = 1, tonumber(ARGV[run + 2]) do
    i = i + 1
    perform(i, KEYS[i], ARGV[run], ARGV[run + 1])
  end
end
return answers`

/** KEYS: the record. ARGV: the record as JSON, when it was last used, its limit, when it expires. */
export const WRITE = `
redis.call('HSET', KEYS[1], 'record', ARGV[1], 'used', ARGV[2], 'limit', ARGV[3])
return redis.call('PEXPIREAT', KEYS[1], ARGV[4])`

/**
 * Puts an entry (`digest expiresAt …`) into the index of an owner unless `max` others are active; drops expired ones.
 * KEYS: the index. ARGV: id, entry, max, now.
 */
export const RESERVE = `
local function expiry(entry) return tonumber(string.match(entry, '^%S+ (%d+)')) end
local entries = redis.call('HGETALL', KEYS[1])
local others, last = 0, expiry(ARGV[2])
for i = 1, #entries, 2 do
  local id, expiresAt = entries[i], expiry(entries[i + 1])
  if expiresAt <= tonumber(ARGV[4]) then
    redis.call('HDEL', KEYS[1], id)
  elseif id ~= ARGV[1] then
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
