-- T: token bucket, counted as in the generic cell rate algorithm (GCRA). Used permits come back one after the other, evenly:
-- rule.permits of them every rule.micros microseconds. A leaky bucket has the same rule; its limits have the option ~.
--   since  when the next of them began to come back
--   rest   the fraction of the microsecond after since, in parts of the rule's permits
--
-- takes: floor least greatest refund_gaps algorithms quotient time_of permits_in number_used observe
-- leaves:

function algorithms.T()
  local token_bucket = {has_pace = true, used = number_used}

  function token_bucket.prepare(rule)
    rule.part = rule.micros % rule.permits
    rule.whole = (rule.micros - rule.part) / rule.permits
  end

  local function tokens_in(elapsed, fraction, most, rule)
    return permits_in(elapsed, fraction, most, rule.whole, rule.part, rule.permits)
  end

  function token_bucket.recover(state, bucket)
    local rule = state.rule
    local back = tokens_in(bucket.now - state.since, state.rest, state.used, rule)
    if state.gaps then refund_gaps().recover(state, bucket, back) end
    if back == state.used then
      state.used, state.since, state.rest, state.leased = 0, bucket.now, 0, 0
      return
    end
    local rest = back * rule.part + state.rest
    state.used = state.used - back
    state.since = state.since + back * rule.whole + quotient(rest, rule.permits)
    state.rest = rest % rule.permits
  end

  function token_bucket.time_until(state, bucket, most)
    local rule = state.rule
    return state.since + time_of(state.used - most, state.rest, rule.whole, rule.part, rule.permits) - bucket.now
  end

  function token_bucket.take(state, _, permits)
    state.used = state.used + permits
  end

  function token_bucket.lease(state, bucket)
    state.leased = greatest(state.leased + 1, bucket.now + token_bucket.time_until(state, bucket, 0))
  end

  function token_bucket.define_rare()
    function token_bucket.most(rule)
      local by_time = quotient(2 ^ 52, rule.whole + 1)
      return rule.part == 0 and by_time or least(by_time, quotient(2 ^ 53 - 2 * rule.permits, rule.part))
    end

    -- Permits reserved ahead stay used.
    function token_bucket.observe(state, bucket, permits)
      if state.used <= state.rule.capacity then observe(state, bucket, permits) end
    end

    function token_bucket.adopt(state, bucket, other, used)
      local rule, old = state.rule, other.rule
      state.used = used
      if old.algorithm ~= token_bucket or other.used > rule.capacity or used == 0 then return end
      if old.permits == rule.permits and old.micros == rule.micros then
        state.since, state.rest = other.since, other.rest
      else
        -- The part of a permit that has come back is kept, in doubles as ReducedRate.samePart.
        local parts = (bucket.now - other.since) / (old.micros / old.permits)
        state.since = bucket.now - floor(parts * (rule.micros / rule.permits) * (1 - 2 ^ -45))
      end
    end

    -- Returns how many of the permits in use belong to the receipt or were taken before it. Permits come back in the order in
    -- which they were taken, so these come back by the time at which the receipt's bucket was to be full again.
    function token_bucket.out_before(receipt, state, rule)
      local rest = receipt.used * rule.part + receipt.rest
      local last = receipt.since + receipt.used * rule.whole + quotient(rest, rule.permits)
      local fraction = rest % rule.permits
      local out = tokens_in(greatest(0, last - state.since + 1), state.rest, state.used, rule)
      while out > 0 do
        rest = out * rule.part + state.rest
        local back = state.since + out * rule.whole + quotient(rest, rule.permits)
        if back < last or back == last and rest % rule.permits <= fraction then return out end
        out = out - 1
      end
      return 0
    end
  end

  return token_bucket
end
