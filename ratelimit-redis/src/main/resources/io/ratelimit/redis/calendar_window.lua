-- C: fixed windows that are the units of a calendar: C10000/month. All used permits come back at once when the window ends. The
-- JVM knows calendars, so a limit has the option |1793491200,1796083200,1798761600: where some units begin, in seconds of the
-- epoch. If a window has to be opened and the time is not between them, the reply is that time.
--   since  when the window started
--   rest   when it ends; 0 if no permits are used, because no window is open then
-- An open window ends when it was to end when it was opened, whatever other instances take for the unit's end.
--
-- takes: least greatest algorithms number_used use use_up_to_capacity
-- leaves:

function algorithms.C()
  local calendar_window = {used = number_used}

  local DAY = 86400000000

  -- Returns a length that no other unit has.
  function calendar_window.micros_of(unit)
    return unit == 'month' and 31 * DAY or unit == 'day' and DAY or unit == 'week' and 7 * DAY or unit == 'year' and 366 * DAY
      or nil
  end

  -- Returns the rule of a limit with that option.
  function calendar_window.between(rule, seconds)
    local starts = {}
    for start in string.gmatch(seconds, '%d+') do starts[#starts + 1] = start * 1000000 end
    return {text = rule.text, algorithm = calendar_window, capacity = rule.capacity, micros = rule.micros, starts = starts}
  end

  -- Returns the start and the end of the unit that contains the time; nil if they are not known.
  local function unit_at(now, rule)
    local starts = rule.starts or {}
    for i = 2, #starts do
      if now >= starts[i - 1] and now < starts[i] then return starts[i - 1], starts[i] end
    end
    return nil
  end

  function calendar_window.recover(state, bucket)
    if state.used > 0 and bucket.now < state.rest then return end
    state.used, state.since, state.rest = 0, bucket.now, 0
    if state == bucket.own and not unit_at(bucket.now, state.rule) then bucket.foreign = bucket.now end
  end

  function calendar_window.time_until(state, bucket)
    return state.rest - bucket.now
  end

  function calendar_window.take(state, bucket, permits)
    if state.used == 0 then state.since, state.rest = unit_at(bucket.now, state.rule) end
    use(state, bucket, permits)
  end

  function calendar_window.define_rare()
    local function is_of_unit(other, state)
      return other.rule.algorithm == calendar_window and other.rule.micros == state.rule.micros
    end

    -- Returns whether the state has a window, which opens if need be. That of another rule opens with the bucket's own: it is not
    -- known here when the window of another unit would end.
    local function is_open(state, bucket)
      if state.used > 0 then return true end
      if not is_of_unit(bucket.own, state) then return false end
      if state == bucket.own then
        state.since, state.rest = unit_at(bucket.now, state.rule)
      else
        state.since, state.rest = bucket.own.since, bucket.own.rest
      end
      return true
    end

    function calendar_window.observe(state, bucket, permits)
      if is_open(state, bucket) then use_up_to_capacity(state, bucket, permits) end
    end

    -- A debt ends with its window, as all that is used.
    function calendar_window.force(state, bucket, permits)
      if is_open(state, bucket) then state.used = greatest(state.used, least(state.used + permits, 2 ^ 52)) end
    end

    function calendar_window.adopt(state, bucket, other, used)
      local since, rest = unit_at(bucket.now, state.rule)
      if is_of_unit(other, state) then since, rest = other.since, other.rest end
      if used > 0 and since then state.used, state.since, state.rest = used, since, rest end
    end

    function calendar_window.refund(state, _, permits, receipt)
      if state.since == receipt.since and state.rest == receipt.rest then
        state.used = greatest(0, state.used - permits)
      end
    end
  end

  return calendar_window
end
