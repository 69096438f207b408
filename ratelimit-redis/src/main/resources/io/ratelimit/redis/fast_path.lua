-- Decides a run in which every call charges token buckets, leaky buckets, fixed or sliding windows, which are unused or have the
-- state of this very rule alone, without lease or debt. In few functions and tables: what a run touches takes longer than what
-- it computes. Any other run has written nothing yet.
-- takes: name_functions begin clock redis_call redis_pcall format match byte quotient greatest micros_of time_of permits_in
-- leaves: decide_fast

-- Limits by their texts, so that each is parsed once; false: another algorithm, or further options.
local fast_limits, fast_limit_count = {}, 0
-- The buckets of the run in the order in which it needs them. Later runs use their tables again.
local counts, counted, count_by_key, fast_replies = {}, 0, {}, {}
-- The charges of a call that charges several.
local call_counts, call_permits = {}, {}

local function fast_limit_of(text)
  if fast_limit_count == 1000 then fast_limits, fast_limit_count = {}, 0 end
  local rule, letter, capacity, permits, amount, unit, spaced = match(text, '^(([TFS])(%d+)@?(%d*)/(%d*)(%l+))(~?)$')
  local limit = false
  if rule then
    local micros = micros_of(unit) * (amount == '' and 1 or amount)
    limit = {rule = rule, capacity = capacity + 0, spaced = spaced ~= '', sliding = letter == 'S'}
    limit.window = letter ~= 'T' and micros
    limit.permits = limit.window and 1 or permits + 0
    limit.part, limit.whole = micros % limit.permits, quotient(micros, limit.permits)
    limit.state = '^' .. rule .. ':(%d+):(%d+):?(%d*)$'
    if limit.sliding and (limit.capacity + 1) * micros >= 2 ^ 53 then limit = false end
  end
  fast_limits[text], fast_limit_count = limit, fast_limit_count + 1
  return limit
end

-- Fills the count with its limit and what is used as of now, unless the value has anything else, or a later time.
local function read_count(count, limit)
  local used, since, rest, text = 0, clock, 0, nil
  local value, window = redis_pcall('GET', count.key), limit.window
  if value then
    if type(value) ~= 'string' then return end
    used, text, rest = match(value, limit.state)
    if not used then return end
    used, since, rest = used + 0, text + 0, rest == '' and 0 or rest + 0
    local elapsed = clock - since
    local exact = elapsed >= 0 and used < 2 ^ 53 and rest < 2 ^ 53
    if not exact or window and (used > limit.capacity or rest > (limit.sliding and limit.capacity or 0)) then return end
    if used == 0 or elapsed >= limit.whole then
      local back = window and used or permits_in(elapsed, rest, used, limit.whole, limit.part, limit.permits)
      if limit.sliding then
        if elapsed >= window then rest = elapsed < 2 * window and used or 0 end
        used, text = 0, nil
      elseif back == used then
        used, since, rest, text = 0, clock, 0, nil
      elseif back > 0 then
        rest = back * limit.part + rest
        used, since, text = used - back, since + back * limit.whole + quotient(rest, limit.permits), nil
        rest = rest % limit.permits
      end
    end
  end
  -- What the window before still counts: a part of a permit is one.
  count.carried = 0
  if limit.sliding then
    since = clock - clock % window
    count.carried = quotient(rest * (since + window - clock) + window - 1, window)
  end
  count.limit, count.used, count.since, count.rest, count.text = limit, used, since, rest, text
end

-- Returns the microseconds until no more than that many permits are used; if they are that many now, for a sliding window only.
local function time_until(count, limit, most)
  local window, used, rest, ago = limit.window, count.used, count.rest, clock - count.since
  if not window then return time_of(used - most, rest, limit.whole, limit.part, limit.permits) - ago end
  if not limit.sliding then return window - ago end
  if used > most then return 2 * window - ago - quotient(most * window, used) end
  return rest > most - used and greatest(0, window - ago - quotient((most - used) * window, rest)) or 0
end

local function decide_count(count, wanted, rejected, replied)
  local limit = count.limit
  local capacity, used, delay, retry = limit.capacity, count.used + count.carried, 0, 0
  if wanted > 0 and used + wanted <= capacity then
    if limit.spaced and used > 0 then delay = time_until(count, limit, 0) end
    if not rejected then
      used = used + wanted
      count.used, count.charged = count.used + wanted, true
    end
  elseif wanted > 0 then
    retry = wanted > capacity and -1 or time_until(count, limit, capacity - wanted)
  end
  count.reset = used > 0 and time_until(count, limit, 0) or 0
  fast_replies[replied + 1], fast_replies[replied + 2] = used < capacity and capacity - used or 0, delay
  fast_replies[replied + 3], fast_replies[replied + 4] = retry, count.reset
end

-- Returns the replies as run(KEYS, ARGV) in decide.lua; nil for another run.
local function decide_fast(KEYS, ARGV)
  -- 1 and =, which together with + and , are all codes that are decided here.
  local CHARGE, FURTHER, AS_BEFORE = 49, 43, 61
  local codes, replied, keys, arguments, charges, rejected = ARGV[1], 0, 0, 1, 0, false
  if codes ~= '1' and codes:find('[^1+,=]') then return nil end
  if not redis_call then name_functions() end
  for i = 1, counted do count_by_key[counts[i].key] = nil end
  counted = 0
  local limit, wanted, count
  local code = CHARGE
  for i = 1, #codes do
    if code == CHARGE or code == FURTHER then
      limit = fast_limits[ARGV[arguments + 1]]
      if limit == nil then limit = fast_limit_of(ARGV[arguments + 1]) end
      if not limit then return nil end
      if i == 1 then begin() end
      wanted, arguments = ARGV[arguments + 2] + 0, arguments + 2
    end
    if code ~= AS_BEFORE then
      keys = keys + 1
      count = count_by_key[KEYS[keys]]
      if not count then
        counted = counted + 1
        count = counts[counted] or {}
        count.key, count.limit, count.charged = KEYS[keys], nil, false
        counts[counted], count_by_key[count.key] = count, count
        read_count(count, limit)
      end
      if count.limit ~= limit then return nil end
    end
    code = byte(codes, i + 1)
    if charges == 0 and code ~= FURTHER then
      decide_count(count, wanted, false, replied)
      replied = replied + 4
    else
      charges = charges + 1
      call_counts[charges], call_permits[charges] = count, wanted
      rejected = rejected or wanted > 0 and count.used + count.carried + wanted > limit.capacity
      if code ~= FURTHER then
        for j = 1, charges do decide_count(call_counts[j], call_permits[j], rejected, replied + 4 * j - 4) end
        replied, charges, rejected = replied + 4 * charges, 0, false
      end
    end
  end
  for i = 1, counted do
    count = counts[i]
    if count.charged then
      local value = format('%s:%d:%s', count.limit.rule, count.used, count.text or format('%.0f', count.since))
      if count.rest ~= 0 then value = format('%s:%d', value, count.rest) end
      if count.limit.window and count.text then
        redis_call('SET', count.key, value, 'KEEPTTL')
      else
        redis_call('SET', count.key, value, 'PX', quotient(count.reset + 999, 1000))
      end
    end
  end
  for i = replied + 1, #fast_replies do fast_replies[i] = nil end
  return fast_replies
end
