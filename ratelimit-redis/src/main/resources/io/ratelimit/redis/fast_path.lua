-- Decides a run in which every call charges one token bucket, leaky bucket or fixed window, which is unused or has the state of
-- this very rule alone, without lease or debt. In few functions and tables: what a run touches takes longer than what it
-- computes. Any other run has written nothing yet.
-- takes: name_functions begin clock redis_call redis_pcall format match byte quotient micros_of time_of permits_in
-- leaves: decide_fast

-- Limits by their texts, so that each is parsed once; false: another algorithm, or further options.
local fast_limits, fast_limit_count = {}, 0
-- The buckets of the run in the order in which it needs them. Later runs use their tables again.
local counts, counted, count_by_key, fast_replies = {}, 0, {}, {}

local function fast_limit_of(text)
  if fast_limit_count == 1000 then fast_limits, fast_limit_count = {}, 0 end
  local rule, letter, capacity, permits, amount, unit, spaced = match(text, '^(([TF])(%d+)@?(%d*)/(%d*)(%l+))(~?)$')
  local limit = false
  if rule then
    local micros = micros_of(unit) * (amount == '' and 1 or amount)
    limit = {rule = rule, capacity = capacity + 0, spaced = spaced ~= '', window = letter == 'F' and micros}
    limit.permits = limit.window and 1 or permits + 0
    limit.part, limit.whole = micros % limit.permits, quotient(micros, limit.permits)
    limit.state = '^' .. rule .. ':(%d+):(%d+):?(%d*)$'
  end
  fast_limits[text], fast_limit_count = limit, fast_limit_count + 1
  return limit
end

-- Fills the count with its limit and what is used as of now, unless the value has anything else, or a later time.
local function read_count(count, limit)
  local used, since, rest, text = 0, clock, 0, nil
  local value = redis_pcall('GET', count.key)
  if value then
    if type(value) ~= 'string' then return end
    used, text, rest = match(value, limit.state)
    if not used then return end
    used, since, rest = used + 0, text + 0, rest == '' and 0 or rest + 0
    local elapsed = clock - since
    local exact = elapsed >= 0 and used < 2 ^ 53 and rest < 2 ^ 53
    if not exact or limit.window and (rest ~= 0 or used > limit.capacity) then return end
    if used == 0 or elapsed >= limit.whole then
      local back = limit.window and used or permits_in(elapsed, rest, used, limit.whole, limit.part, limit.permits)
      if back == used then
        used, since, rest, text = 0, clock, 0, nil
      elseif back > 0 then
        rest = back * limit.part + rest
        used, since, text = used - back, since + back * limit.whole + quotient(rest, limit.permits), nil
        rest = rest % limit.permits
      end
    end
  end
  count.limit, count.used, count.since, count.rest, count.text = limit, used, since, rest, text
end

-- Returns the replies as run(KEYS, ARGV) in decide.lua; nil for another run.
local function decide_fast(KEYS, ARGV)
  -- 1 and =, which together with , are all codes that are decided here.
  local CHARGE, AS_BEFORE = 49, 61
  local codes, replies, replied, keys, arguments = ARGV[1], fast_replies, 0, 0, 1
  if codes ~= '1' and codes:find('[^1,=]') then return nil end
  if not redis_call then name_functions() end
  for i = 1, counted do count_by_key[counts[i].key] = nil end
  counted = 0
  local limit, wanted, count
  for i = 1, #codes do
    local code = byte(codes, i)
    if code == CHARGE then
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
    local capacity, whole, part, permits, window = limit.capacity, limit.whole, limit.part, limit.permits, limit.window
    local used, rest, ago, delay, retry = count.used, count.rest, clock - count.since, 0, 0
    if wanted > 0 and used + wanted <= capacity then
      if limit.spaced and used > 0 then delay = time_of(used, rest, whole, part, permits) - ago end
      used = used + wanted
      count.used, count.charged = used, true
    elseif wanted > 0 then
      retry = wanted > capacity and -1 or (window or time_of(used - capacity + wanted, rest, whole, part, permits)) - ago
    end
    count.reset = used > 0 and (window or time_of(used, rest, whole, part, permits)) - ago or 0
    replies[replied + 1], replies[replied + 2] = used < capacity and capacity - used or 0, delay
    replies[replied + 3], replies[replied + 4] = retry, count.reset
    replied = replied + 4
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
  for i = replied + 1, #replies do replies[i] = nil end
  return replies
end
