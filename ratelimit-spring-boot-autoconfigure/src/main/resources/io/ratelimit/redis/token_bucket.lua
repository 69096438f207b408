-- Used permits come back one after the other, evenly: rule.permits of them every rule.micros microseconds.

local token_bucket = {}

-- The time of n permits, a fraction of a microsecond having been carried over; rounded up.
local function time_of(n, fraction, rule)
  local rest = n * rule.rest + fraction
  return n * rule.whole + quotient(rest + rule.permits - 1, rule.permits)
end

-- How many permits are back after the elapsed time.
local function permits_in(elapsed, bucket, rule)
  if elapsed >= time_of(bucket.used, bucket.fraction, rule) then return bucket.used end
  -- The product may be beyond 2^53 and the estimate then wrong, by less than one permit; it is set right exactly.
  local n = math.max(0, math.floor((elapsed * rule.permits - bucket.fraction) / rule.micros))
  while n > 0 and time_of(n, bucket.fraction, rule) > elapsed do n = n - 1 end
  while time_of(n + 1, bucket.fraction, rule) <= elapsed do n = n + 1 end
  return n
end

function token_bucket.recover(bucket, rule)
  rule.rest = rule.micros % rule.permits
  rule.whole = (rule.micros - rule.rest) / rule.permits
  -- A fraction that another rule has left may be too large for this one; it is less than a microsecond anyway.
  bucket.fraction = math.min(bucket.fraction, rule.permits - 1)
  local back = permits_in(bucket.now - bucket.since, bucket, rule)
  if back == bucket.used then
    bucket.used, bucket.since, bucket.fraction = 0, bucket.now, 0
    return
  end
  local rest = back * rule.rest + bucket.fraction
  bucket.used = bucket.used - back
  bucket.since = bucket.since + back * rule.whole + quotient(rest, rule.permits)
  bucket.fraction = rest % rule.permits
end

function token_bucket.time_until(n, bucket, rule)
  return bucket.since + time_of(n, bucket.fraction, rule) - bucket.now
end

algorithms.TOKEN_BUCKET = token_bucket
