-- I: token bucket refilled in batches of rule.permits, one at the end of each period of rule.micros microseconds. The period
-- starts with the call that takes permits from a full bucket.
--   since  when the current period began
--
-- takes: algorithms quotient number_used use
-- leaves:

function algorithms.I()
  local interval = {has_pace = true, used = number_used, take = use, observe = use}

  local function batches(permits, rule)
    return quotient(permits + rule.permits - 1, rule.permits)
  end

  function interval.recover(state, bucket)
    local rule = state.rule
    local periods = quotient(bucket.now - state.since, rule.micros)
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
    function interval.adopt(state, bucket, other)
      local rule, old = state.rule, other.rule
      state.used = math.min(old.algorithm.used(other, bucket), rule.capacity)
      if old.algorithm == interval and old.permits == rule.permits and old.micros == rule.micros then
        state.since = other.since
      end
    end

    function interval.refund(state, bucket, permits, receipt)
      local rule = state.rule
      if bucket.now >= receipt.since + batches(receipt.used, rule) * rule.micros then return end
      local out = receipt.used - quotient(state.since - receipt.since, rule.micros) * rule.permits
      -- Less is used if the bucket was reset since.
      out = math.min(out, state.used)
      state.used = state.used - math.min(permits, out)
      -- No earlier call has permits in use, and later ones did not start the period.
      if out <= permits then state.since = bucket.now end
    end
  end

  return interval
end
