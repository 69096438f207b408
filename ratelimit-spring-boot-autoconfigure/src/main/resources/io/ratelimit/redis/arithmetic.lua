-- Every number is an integer below 2^53, which Lua's doubles carry exactly.
--
-- Redis runs this text anew for every run, and so every function is made anew. What most runs need comes first, and
-- decides alone where it can.

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]

-- Exact below 2^53, where math.floor(a / b) is not beyond doubt.
local function quotient(a, b)
  return (a - a % b) / b
end

-- A table would be made for every run, to be asked once.
local function micros_of(unit)
  return unit == 's' and 1000000 or unit == 'm' and 60000000 or unit == 'h' and 3600000000
    or unit == 'ms' and 1000 or unit == 'd' and 86400000000 or unit == 'us' and 1 or nil
end

-- Of permits that come back evenly, so many in so many microseconds, one takes whole microseconds and a part of one, in as
-- many parts as the permits are. A fraction is in such parts, too.

-- The time of n permits, a fraction of a microsecond having been carried over; rounded up.
local function time_of(n, fraction, whole, part, permits)
  local rest = n * part + fraction
  if rest == 0 then return n * whole end
  return n * whole + quotient(rest + permits - 1, permits)
end

-- How many permits, most at the most, are back after the elapsed time.
local function permits_in(elapsed, fraction, most, whole, part, permits)
  if elapsed >= time_of(most, fraction, whole, part, permits) then return most end
  if part + fraction == 0 then return quotient(elapsed, whole) end
  -- The product may be beyond 2^53 and the estimate then wrong, by less than one permit; it is set right exactly.
  local n = math.max(0, math.floor((elapsed * permits - fraction) / (whole * permits + part)))
  while n > 0 and time_of(n, fraction, whole, part, permits) > elapsed do n = n - 1 end
  while time_of(n + 1, fraction, whole, part, permits) <= elapsed do n = n + 1 end
  return n
end
