-- F: fixed window counter. All used permits come back at once when the window ends, rule.micros after the first call in it: a batch
-- is the capacity. What is used beyond the capacity is used in the next window, which starts then.
--   since  when the window started
--
-- takes: greatest algorithms number_used use use_up_to_capacity recover_batches time_until_batches
-- leaves:

function algorithms.F()
  local fixed_window = {
    expires_with_window = true, used = number_used, recover = recover_batches, time_until = time_until_batches, take = use,
    observe = use_up_to_capacity,
  }

  function fixed_window.prepare(rule)
    rule.batch, rule.whole = rule.capacity, rule.micros
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
