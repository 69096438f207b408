-- Arithmetic on integers below 2^53, and on the time in which permits come back evenly.
--
-- takes: floor
-- leaves: quotient least greatest micros_of time_of permits_in

-- Exact below 2^53, where math.floor(a / b) may not be.
local function quotient(a, b)
  return (a - a % b) / b
end

local function least(a, b)
  return a < b and a or b
end

local function greatest(a, b)
  return a > b and a or b
end

-- Not a table, which every run of a script would create to use it once.
local function micros_of(unit)
  return unit == 's' and 1000000 or unit == 'm' and 60000000 or unit == 'h' and 3600000000
    or unit == 'ms' and 1000 or unit == 'd' and 86400000000 or unit == 'us' and 1 or nil
end

-- Returns the time of n permits that come back evenly: one of them takes whole microseconds and part / permits of one. A fraction
-- in such parts is carried over, and the time is rounded up.
local function time_of(n, fraction, whole, part, permits)
  local rest = n * part + fraction
  if rest == 0 then return n * whole end
  return n * whole + quotient(rest + permits - 1, permits)
end

-- Returns how many permits, at most most, have come back after the elapsed time.
local function permits_in(elapsed, fraction, most, whole, part, permits)
  if part + fraction == 0 then return least(most, quotient(elapsed, whole)) end
  if elapsed >= time_of(most, fraction, whole, part, permits) then return most end
  -- The product may be beyond 2^53, and the estimate wrong by less than one permit. The loops correct it.
  local n = greatest(0, floor((elapsed * permits - fraction) / (whole * permits + part)))
  while n > 0 and time_of(n, fraction, whole, part, permits) > elapsed do n = n - 1 end
  while time_of(n + 1, fraction, whole, part, permits) <= elapsed do n = n + 1 end
  return n
end
