-- T: token bucket, counted as in the generic cell rate algorithm (GCRA). Used permits come back one after the other, evenly:
-- rule.permits of them every rule.micros microseconds, in batches of one. A leaky bucket has the same rule; its limits have the
-- option ~.
--   since  when the next of them began to come back
--   rest   the fraction of the microsecond after since, in parts of the rule's permits
--
-- takes: floor least greatest algorithms quotient permits_in number_used observe recover_batches time_until_batches
-- leaves:

function algorithms.T()
  local token_bucket = {
    has_pace = true, used = number_used, recover = recover_batches, time_until = time_until_batches, observe = observe,
  }

  function token_bucket.prepare(rule)
    rule.part, rule.parts = rule.micros % rule.permits, rule.permits
    rule.whole = (rule.micros - rule.part) / rule.permits
  end

  function token_bucket.take(state, _, permits)
    state.used = state.used + permits
  end

  function token_bucket.lease(state, bucket)
    state.leased = greatest(state.leased + 1, bucket.now + time_until_batches(state, bucket, 0))
  end

  function token_bucket.define_rare()
    function token_bucket.most(rule)
      local by_time = quotient(2 ^ 52, rule.whole + 1)
      return rule.part == 0 and by_time or least(by_time, quotient(2 ^ 53 - 2 * rule.permits, rule.part))
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
      local out = permits_in(greatest(0, last - state.since + 1), state.rest, state.used, rule.whole, rule.part, rule.permits)
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
