-- Decides all charges of a call together: if every binding one fits, all are charged; else none is.
--   KEYS  one bucket a charge
--   ARGV  1 to charge, 0 to look only; then for each charge: algorithm, capacity, the rule's permits and microseconds,
--         the permits asked for, and 1 if it is binding or 0 if it is a dry run
--   reply for each charge: permits remaining, microseconds until it could succeed (0: it fits, -1: never), microseconds
--         until the bucket is as if never used

local FIELDS = 6

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]

local function charge(i)
  local at = 2 + (i - 1) * FIELDS
  return {
    key = KEYS[i],
    algorithm = algorithms[ARGV[at]],
    capacity = tonumber(ARGV[at + 1]),
    rule = {permits = tonumber(ARGV[at + 2]), micros = tonumber(ARGV[at + 3])},
    wanted = tonumber(ARGV[at + 4]),
    binding = ARGV[at + 5] == '1',
  }
end

local charges, rejected = {}, false
for i = 1, #KEYS do
  local c = charge(i)
  local bucket = load(c.key, clock)
  if not bucket then return redis.error_reply('FOREIGN the value at the key is not a rate limit') end
  bucket.used = math.min(bucket.used, c.capacity)
  c.algorithm.recover(bucket, c.rule)
  c.bucket = bucket
  c.fits = c.wanted == 0 or bucket.used + c.wanted <= c.capacity
  rejected = rejected or (c.binding and not c.fits)
  charges[i] = c
end

local replies = {}
for _, c in ipairs(charges) do
  local bucket = c.bucket
  local retry = 0
  if not c.fits then
    retry = c.wanted > c.capacity and -1 or c.algorithm.time_until(bucket.used + c.wanted - c.capacity, bucket, c.rule)
  end
  local charged = ARGV[1] == '1' and c.fits and not (rejected and c.binding)
  if charged then bucket.used = bucket.used + c.wanted end
  local reset = bucket.used == 0 and 0 or c.algorithm.time_until(bucket.used, bucket, c.rule)
  -- Only a charge changes a bucket, or a clock that went back or has caught up.
  if ARGV[1] == '1' and (bucket.moved or charged and c.wanted > 0) then
    save(c.key, bucket, reset)
  end
  replies[#replies + 1] = c.capacity - bucket.used
  replies[#replies + 1] = retry
  replies[#replies + 1] = reset
end
return replies
