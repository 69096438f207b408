-- For servers without functions: decides a run if every call is a charge or a lease of one token bucket, which is
-- unused or has the state of this very rule alone. Such a run ends here, before Redis creates the functions of the other parts,
-- which would take most of its time. Any other run has written nothing yet. A library has no use for this part.
--
-- takes: begin clock redis_call redis_pcall format match sub byte floor quotient least greatest micros_of time_of permits_in
-- leaves:

local function decide_token_buckets()
  -- 1, 4 and =, which together with , are all codes that are decided here.
  local CHARGE, LEASE, AS_BEFORE = 49, 52, 61
  -- The buckets of this run, by their keys.
  local USED, SINCE, REST, LEASED, RESET, RULE = 1, 2, 3, 4, 5, 6
  local counts, replies, replied = {}, {0, 0, 0, 0}, 0

  -- Returns used, since, rest and leased as of now; nil if the bucket has more than one state, or a clock skew.
  local function count_at(key, rule, whole, part, permits)
    local value = redis_pcall('GET', key)
    if not value then return 0, clock, 0, 0 end
    local length = #rule
    if type(value) ~= 'string' or sub(value, 1, length) ~= rule then return nil end
    local used, since, rest, leased = match(value, '^:(%d+):(%d+):?(%d*)!?(%d*)$', length + 1)
    if not used then return nil end
    used, since = used + 0, since + 0
    rest, leased = rest == '' and 0 or rest + 0, leased == '' and 0 or leased + 0
    if since > clock or used >= 2 ^ 53 or rest >= 2 ^ 53 or leased >= 2 ^ 53 then return nil end
    local back = permits_in(clock - since, rest, used, whole, part, permits)
    if back == used then return 0, clock, 0, 0 end
    rest = back * part + rest
    return used - back, since + back * whole + quotient(rest, permits), rest % permits, leased
  end

  local keys, arguments = 0, 1
  local rule, capacity, permits, whole, part
  local wanted, ahead, count, used, since, rest, leased

  local codes = ARGV[1]
  begin()
  for i = 1, #codes do
    local code = byte(codes, i)
    if code == CHARGE or code == LEASE then
      local text = ARGV[arguments + 1]
      if text ~= rule then
        local amount, unit
        capacity, permits, amount, unit = match(text, '^T(%d+)@(%d+)/(%d*)(%l+)$')
        -- Another algorithm, or a limit with options.
        if not capacity then return nil end
        rule, capacity, permits = text, capacity + 0, permits + 0
        local micros = micros_of(unit) * (amount == '' and 1 or amount)
        part = micros % permits
        whole = (micros - part) / permits
      end
      wanted, ahead = ARGV[arguments + 2], 0
      if code == LEASE then wanted, ahead = match(wanted, '^(%d+)%+(%d+)$') end
      wanted, arguments = wanted + 0, arguments + 2
    end
    if code ~= AS_BEFORE then
      keys = keys + 1
      local key = KEYS[keys]
      count = counts[key]
      if count then
        if count[RULE] ~= rule then return nil end
        used, since, rest, leased = count[USED], count[SINCE], count[REST], count[LEASED]
      else
        used, since, rest, leased = count_at(key, rule, whole, part, permits)
        if not used then return nil end
        count = {used, since, rest, leased, false, rule}
        counts[key] = count
      end
    end
    local retry, more = 0, 0
    if wanted == 0 or used + wanted <= capacity then
      if ahead ~= 0 then more = greatest(0, least(ahead + 0, floor((capacity - used - wanted) / 2))) end
      used = used + wanted + more
    else
      retry = wanted > capacity and -1
        or since - clock + time_of(used - capacity + wanted, rest, whole, part, permits)
    end
    local reset = used > 0 and since - clock + time_of(used, rest, whole, part, permits) or 0
    if used > count[USED] then count[USED], count[RESET] = used, reset end
    replies[replied + 1] = used < capacity and capacity - used or 0
    replies[replied + 2] = 0
    replies[replied + 3] = retry
    replies[replied + 4] = reset
    replied = replied + 4
    if code == LEASE then
      replies[replied + 1] = used
      replies[replied + 2] = since
      replies[replied + 3] = rest
      replies[replied + 4] = clock
      if more > 0 then
        leased = greatest(leased + 1, clock + reset)
        count[LEASED], replies[replied + 4] = leased, leased
      end
      replies[replied + 5] = more
      replied = replied + 5
    end
  end
  for key, changed in pairs(counts) do
    if changed[RESET] then
      local value
      if changed[REST] == 0 then
        value = format('%s:%d:%.0f', changed[RULE], changed[USED], changed[SINCE])
      else
        value = format('%s:%d:%.0f:%d', changed[RULE], changed[USED], changed[SINCE], changed[REST])
      end
      if changed[LEASED] > 0 then value = format('%s!%.0f', value, changed[LEASED]) end
      redis_call('SET', key, value, 'PX', quotient(changed[RESET] + 999, 1000))
    end
  end
  return replies
end

if not string.find(ARGV[1], '[^14,=]') then
  local replies = decide_token_buckets()
  if replies then return replies end
  -- The run has begun: the time is read once.
  begin = function() end
end
