-- I: token bucket refilled in batches of rule.permits, one at the end of each period of rule.micros microseconds. The period
-- starts with the call that takes permits from a full bucket.
--   since  when the current period began
--
-- takes: least refund_gaps algorithms quotient number_used use observe
-- leaves:

function algorithms.I()
  local interval = {has_pace = true, used = number_used, take = use, observe = observe}

  local function batches(permits, rule)
    return quotient(permits + rule.permits - 1, rule.permits)
  end

  function interval.recover(state, bucket)
    local rule = state.rule
    local periods = quotient(bucket.now - state.since, rule.micros)
    if state.gaps then refund_gaps().recover(state, bucket, least(periods * rule.permits, state.used)) end
    if periods >= batches(state.used, rule) then
      state.used, state.since = 0, bucket.now
    else
      state.used, state.since = state.used - periods * rule.permits, state.since + periods * rule.micros
    end
  end

  function interval.time_until(state, bucket, most)
    local rule = state.rule
    return state.since + batches(state.used - most, rule) * rule.micros - bucket.now
  end

  function interval.define_rare()
    function interval.adopt(state, _, other, used)
      local rule, old = state.rule, other.rule
      state.used = used
      if old.algorithm == interval and old.permits == rule.permits and old.micros == rule.micros then
        state.since = other.since
      end
    end

    -- Returns how many of the permits in use belong to the receipt or were taken before it.
    function interval.out_before(receipt, state, rule)
      local periods = -quotient(receipt.since - state.since, rule.micros)
      -- Less is used if the bucket was reset since.
      return periods < batches(receipt.used, rule) and least(receipt.used - periods * rule.permits, state.used) or 0
    end
  end

  return interval
end
