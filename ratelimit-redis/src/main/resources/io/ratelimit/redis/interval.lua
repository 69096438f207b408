-- I: token bucket refilled in batches of rule.permits, one at the end of each period of rule.micros microseconds. The period
-- starts with the call that takes permits from a full bucket.
--   since  when the current period began
--
-- takes: least algorithms quotient number_used use observe batches recover_batches time_until_batches
-- leaves:

function algorithms.I()
  local interval = {
    has_pace = true, used = number_used, recover = recover_batches, time_until = time_until_batches, take = use, observe = observe,
  }

  function interval.prepare(rule)
    rule.batch, rule.whole = rule.permits, rule.micros
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
