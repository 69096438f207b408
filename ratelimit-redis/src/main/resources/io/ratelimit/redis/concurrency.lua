-- H: permits that running calls hold. A release returns them, or else the time: rule.micros after they were taken or renewed.
-- The key holds a hash, and no other rule, skew or block:
--   #         used:first:last:seen    permits in use, a time before which none of them expires, the time at which all have
--             expired, and the latest time that the bucket has seen
--   ?         until when a call waits for permits that are released, if one does
--   <holder>  permits:expiry:hold     those of one call; holders are numbers of an instance: 8273645:17. A reset leaves 0 permits, by
--             which a renewal finds that the call holds none any more, and that Redis has not lost them
--
-- takes: redis_call redis_pcall format match byte clock least greatest quotient algorithms number_used rare_state
-- leaves:

function algorithms.H()
  local concurrency = {used = number_used}

  -- What a decision says instead of a time that is unknown.
  local UNKNOWN = 1000000

  -- For how many times the hold of a call a reset is remembered: for instances that cannot reach Redis when it happens.
  local HOLDS_REMEMBERED = 10

  local ZERO = 48

  local function write_summary(own, bucket, ...)
    local summary = format('%.0f:%.0f:%.0f:%.0f', own.used, bucket.first, bucket.last, clock)
    redis_call('HSET', bucket.key, '#', summary, ...)
    redis_call('PEXPIRE', bucket.key, quotient(greatest(1, bucket.last - clock) + 999, 1000))
  end

  local function forget(own, bucket)
    redis_call('DEL', bucket.key)
    own.used, bucket.first, bucket.last = 0, 0, 0
  end

  local function value_of(permits, hold)
    return format('%.0f:%.0f:%.0f', permits, clock + hold, hold)
  end

  -- Counts anew, without what has expired. After the clock was set back, nothing lasts longer than it would have.
  --   is_reset  whether all calls hold nothing any more
  local function sweep(own, bucket, seen, is_reset)
    local fields = redis_call('HGETALL', bucket.key)
    own.used, bucket.first, bucket.last = 0, math.huge, 0
    for i = 1, #fields, 2 do
      local permits, expiry, hold = match(fields[i + 1], '^(%d+):(%d+):(%d+)$')
      if permits and fields[i] ~= '#' then
        permits, expiry, hold = permits + 0, expiry + 0, hold + 0
        local is_taken = is_reset and permits > 0
        if is_taken then permits, hold = 0, HOLDS_REMEMBERED * hold end
        if is_taken or clock < seen and expiry > clock + hold then
          expiry = clock + hold
          redis_call('HSET', bucket.key, fields[i], value_of(permits, hold))
        end
        if expiry <= clock then
          redis_call('HDEL', bucket.key, fields[i])
        else
          own.used = own.used + permits
          bucket.first, bucket.last = least(bucket.first, expiry), greatest(bucket.last, expiry)
        end
      end
    end
    if bucket.last == 0 then forget(own, bucket) else write_summary(own, bucket) end
  end

  -- The state is read by recover.
  function concurrency.read()
    return nil
  end

  function concurrency.recover(own, bucket)
    bucket.first, bucket.last, bucket.waits = 0, 0, false
    local text = redis_pcall('HGET', bucket.key, '#')
    local is_hash = type(text) ~= 'table' or rare_state().read('HGET', bucket.key, '#')
    local used, first, last, seen = match(is_hash and text or '', '^(%d+):(%d+):(%d+):(%d+)$')
    if not used then
      bucket.foreign = not is_hash or redis_call('EXISTS', bucket.key) == 1
      return
    end
    own.used, bucket.first, bucket.last = used + 0, first + 0, last + 0
    if clock >= bucket.first or clock < seen + 0 then sweep(own, bucket, seen + 0) end
  end

  function concurrency.time_until()
    return UNKNOWN
  end

  function concurrency.take(own, bucket, permits)
    local hold = own.rule.micros
    own.used, bucket.last = own.used + permits, greatest(bucket.last, clock + hold)
    bucket.first = bucket.first == 0 and clock + hold or least(bucket.first, clock + hold)
    write_summary(own, bucket, bucket.holder, value_of(permits, hold))
  end

  -- Everything is written by then.
  function concurrency.write() end

  -- A call that waits for permits wants to be told of a release. If no call holds any, there will be none, and no key to note it in.
  function concurrency.refused(own, bucket)
    if bucket.waits and own.used > 0 then redis_call('HSET', bucket.key, '?', format('%.0f', bucket.last)) end
  end

  -- Returns the permits of a holder, which may have expired or been released before. Returns 1 if a call waits for them.
  function concurrency.release(own, bucket, holder)
    local found = redis_call('HMGET', bucket.key, holder, '?')
    local permits = found[1] and match(found[1], '^(%d+):')
    if not permits then return 0 end
    own.used = greatest(0, own.used - permits)
    if own.used > 0 then
      redis_call('HDEL', bucket.key, holder, '?')
      write_summary(own, bucket)
    else
      -- What is left are holders that were reset.
      redis_call('HDEL', bucket.key, holder, '?', '#')
      if redis_call('EXISTS', bucket.key) == 1 then write_summary(own, bucket) else bucket.first, bucket.last = 0, 0 end
    end
    return found[2] and 1 or 0
  end

  -- Takes the permits of all holders. Returns 1 if a call waits for them.
  function concurrency.reset(own, bucket)
    if bucket.foreign then
      forget(own, bucket)
      return 0
    end
    if bucket.last == 0 then return 0 end
    sweep(own, bucket, clock, true)
    return redis_call('HDEL', bucket.key, '?')
  end

  -- How many holders a command reads or writes: many in the time of a few, and no more than fit on Lua's stack.
  local AT_ONCE = 100

  -- Renews holders, and returns those that have expired or been lost: permits@holder,permits@holder,… Returns how many
  -- permits were lost, and the numbers from 0 of the holders that hold nothing since a reset.
  function concurrency.renew(own, bucket, text)
    local hold, lost, count, filled, ended = own.rule.micros, 0, 0, 0, {}
    local holders, held, fields, values = {}, {}, {}, {}
    for permits, holder in string.gmatch(text, '(%d+)@([%d:]+)') do
      count = count + 1
      holders[count], held[count] = holder, permits + 0
    end
    for first = 1, count, AT_ONCE do
      -- Those of the last command are written with the summary.
      if filled > 0 then redis_call('HSET', bucket.key, unpack(fields, 1, filled)) end
      filled = 0
      local last = least(first + AT_ONCE - 1, count)
      local known = redis_call('HMGET', bucket.key, unpack(holders, first, last))
      for i = first, last do
        local value, permits = known[i - first + 1], held[i]
        if value and byte(value) == ZERO then
          ended[#ended + 1] = i - 1
        else
          if not value then lost = lost + permits end
          values[permits] = values[permits] or value_of(permits, hold)
          fields[filled + 1], fields[filled + 2] = holders[i], values[permits]
          filled = filled + 2
        end
      end
    end
    if count > #ended then
      own.used = own.used + lost
      -- Those that are back may expire before all others.
      if bucket.first == 0 then bucket.first = clock + hold end
      if lost > 0 then bucket.first = least(bucket.first, clock + hold) end
      bucket.last = greatest(bucket.last, clock + hold)
      write_summary(own, bucket, unpack(fields, 1, filled))
    end
    return lost, ended
  end

  return concurrency
end
