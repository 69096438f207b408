-- A bucket's state between decisions is the string "used:since:fraction:offset", its zeros at the end left out:
--   used      permits that have been taken and are not back
--   since     when the next of them began to come back, or when the window opened; microseconds
--   fraction  of the microsecond after since, in parts of the rule's permits
--   offset    added to the clock: more than 0 while the clock is behind what it once showed
-- Every number is an integer below 2^53, so Lua's doubles carry it exactly.

local algorithms = {}

local function integer(n)
  return string.format('%.0f', n)
end

-- Exact below 2^53, where math.floor(a / b) is not beyond doubt.
local function quotient(a, b)
  return (a - a % b) / b
end

-- Returns nil if the value is none of ours.
local function parse(value)
  local used, since, rest = string.match(value, '^(%d+):(%d+)(.*)$')
  if not used or #used > 10 or #since > 16 then return nil end
  local fraction, offset = 0, 0
  if rest ~= '' then
    fraction, offset = string.match(rest, '^:(%d+):?(%d*)$')
    if not fraction or #fraction > 16 or #offset > 16 then return nil end
    fraction, offset = tonumber(fraction), tonumber(offset) or 0
  end
  return {used = tonumber(used), since = tonumber(since), fraction = fraction, offset = offset}
end

-- A bucket's own time never goes back: while the clock shows less than the bucket has seen, the bucket goes on from
-- there, at the clock's speed, until the clock has caught up. So what was given back is not given back again, and
-- nobody waits for the clock.
local function load(key, clock)
  local value = redis.call('GET', key)
  if not value then
    return {used = 0, since = clock, fraction = 0, offset = 0, now = clock}
  end
  local bucket = parse(value)
  if not bucket then return nil end
  local offset = 0
  if clock < bucket.since then
    offset = math.max(bucket.offset, bucket.since - clock)
  end
  bucket.moved = offset ~= bucket.offset
  bucket.offset = offset
  bucket.now = clock + offset
  return bucket
end

-- reset: microseconds until the bucket is as if never used.
local function save(key, bucket, reset)
  if bucket.used == 0 then return redis.call('DEL', key) end
  local value = integer(bucket.used) .. ':' .. integer(bucket.since)
  if bucket.offset > 0 then
    value = value .. ':' .. integer(bucket.fraction) .. ':' .. integer(bucket.offset)
  elseif bucket.fraction > 0 then
    value = value .. ':' .. integer(bucket.fraction)
  end
  -- The offset keeps the memory of the time once shown until the clock is there again.
  redis.call('SET', key, value, 'PX', integer(quotient(reset + bucket.offset + 999, 1000)))
end
