-- F: fixed window counter. All used permits come back at once when the window ends, rule.micros after the first call in it.
-- What is used beyond the capacity is used in the next window, which starts then.
--   since  when the window started
--
-- takes: greatest algorithms quotient number_used use use_up_to_capacity
-- leaves:

function algorithms.F()
  local fixed_window = {expires_with_window = true, used = number_used, take = use, observe = use_up_to_capacity}

  function fixed_window.recover(state, bucket)
    if state.used == 0 or bucket.now - state.since >= state.rule.micros then
      local rule, windows = state.rule, 1
      if state.used > rule.capacity then windows = quotient(bucket.now - state.since, rule.micros) end
      local left = state.used - windows * rule.capacity
      if left > 0 then
        state.used, state.since = left, state.since + windows * rule.micros
      else
        state.used, state.since = 0, bucket.now
      end
    end
  end

  function fixed_window.time_until(state, bucket, most)
    local rule, windows = state.rule, 1
    if state.used > rule.capacity then windows = quotient(state.used - most + rule.capacity - 1, rule.capacity) end
    return state.since + windows * rule.micros - bucket.now
  end

  function fixed_window.define_rare()
    function fixed_window.adopt(state, _, other, used)
      local old = other.rule
      state.used = used
      -- In a shorter window, permits taken late would come back too soon.
      if old.algorithm == fixed_window and old.micros <= state.rule.micros then state.since = other.since end
    end

    function fixed_window.refund(state, bucket, permits, receipt)
      -- A window that started later is the same one if the call that started it was refunded.
      local later = state.since - receipt.since
      if later < 0 or later >= state.rule.micros then return end
      state.used = greatest(0, state.used - permits)
      -- The refunded call started the window, later ones did not.
      if later == 0 and receipt.used == permits then state.since = bucket.now end
    end
  end

  return fixed_window
end
