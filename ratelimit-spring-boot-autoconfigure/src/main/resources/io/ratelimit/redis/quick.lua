-- How most calls are decided: one charge to a token bucket that is as if never used, or has the section of this very rule
-- alone. No table of kinds, buckets or charges is made for it, nor any of the functions below; that is most of the time
-- that a run takes. The arithmetic is the same.

-- What stood at the key, if it was read here.
local text_read

-- Returns the reply, or nil if there is more to the call or the bucket; then nothing was changed.
local function decide_quickly(key, text, wanted)
  local capacity, permits, amount, unit = string.match(text, '^T(%d+)@(%d+)/(%d*)(%l+)$')
  if not capacity then return nil end
  local micros = micros_of(unit) * (amount == '' and 1 or amount)
  local rule = {
    text = text, capacity = tonumber(capacity), permits = tonumber(permits), micros = micros, rest = 0, whole = 0
  }
  text_read = redis.pcall('GET', key)
  local own = text_read and only_section(rule, text_read) or not text_read and {rule = rule, used = 0, since = clock, rest = 0}
  if not own then return nil end
  local bucket, retry = {now = clock}, 0
  prepare_tokens(rule)
  recover_tokens(own, bucket)
  local fits = wanted == 0 or own.used + wanted <= rule.capacity
  if fits then
    own.used = own.used + wanted
  else
    retry = wanted > rule.capacity and -1 or time_until_tokens(own, bucket, rule.capacity - wanted)
  end
  local reset = own.used == 0 and 0 or time_until_tokens(own, bucket, 0)
  if fits and wanted > 0 then
    redis.call('SET', key, text_of(own), 'PX', quotient(reset + 999, 1000))
  end
  return {math.max(0, rule.capacity - own.used), 0, retry, reset}
end

if ARGV[1] == '1' then
  local reply = decide_quickly(KEYS[1], ARGV[2], tonumber(ARGV[3]))
  if reply then return reply end
end
