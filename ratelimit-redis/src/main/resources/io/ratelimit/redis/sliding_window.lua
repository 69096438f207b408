-- S: sliding window counter, from two fixed windows of rule.micros aligned to the epoch. The previous count is weighted
-- by the share of that window that is still in view: within rule.micros before now. What a window counts beyond the capacity
-- counts in the next one.
--   used   the current window's count
--   since  when the current window started
--   rest   the previous window's count
--
-- takes: least greatest algorithms quotient use use_up_to_capacity
-- leaves:

function algorithms.S()
  local sliding_window = {expires_with_window = true, take = use, observe = use_up_to_capacity}

  -- Returns a * b / m rounded down, and the remainder. Digit by digit if the product is not exact; a is below 2^30, b and m
  -- are below 2^52.
  local function multiply_and_divide(a, b, m)
    if a * b < 2 ^ 53 then return quotient(a * b, m), a * b % m end
    local result, remainder = a * quotient(b, m), 0
    local digits, bit = 0, 2 ^ 29
    b = b % m
    while bit >= 1 do
      digits, remainder = 2 * digits, 2 * remainder
      if remainder >= m then digits, remainder = digits + 1, remainder - m end
      if a >= bit then
        a, remainder = a - bit, remainder + b
        if remainder >= m then digits, remainder = digits + 1, remainder - m end
      end
      bit = bit / 2
    end
    return result + digits, remainder
  end

  function sliding_window.recover(state, bucket)
    local start = bucket.now - bucket.now % state.rule.micros
    if start == state.since then return end
    local capacity = state.rule.capacity
    if state.used > capacity then
      local before = state.used - (quotient(start - state.since, state.rule.micros) - 1) * capacity
      state.used, state.rest, state.since = greatest(0, before - capacity), greatest(0, least(before, capacity)), start
      return
    end
    state.rest = start - state.since == state.rule.micros and state.used or 0
    state.used, state.since = 0, start
  end

  function sliding_window.used(state, bucket)
    if state.rest == 0 then return state.used end
    local micros = state.rule.micros
    local whole, part = multiply_and_divide(state.rest, state.since + micros - bucket.now, micros)
    return state.used + whole + (part > 0 and 1 or 0)
  end

  function sliding_window.time_until(state, bucket, most)
    local micros = state.rule.micros
    local left, room = state.since + micros - bucket.now, most - state.used
    if room < 0 then
      -- In a later window, the next one unless there is a debt, in which the one before it is the previous.
      local capacity, windows = state.rule.capacity, 1
      if state.used > capacity then windows = greatest(1, quotient(capacity - room - 1, capacity)) end
      local before = state.used - (windows - 1) * capacity
      local previous = least(before, capacity)
      return left + windows * micros - multiply_and_divide(most - before + previous, micros, previous)
    end
    if state.rest <= room then return 0 end
    return greatest(0, left - multiply_and_divide(room, micros, state.rest))
  end

  function sliding_window.define_rare()
    function sliding_window.adopt(state, bucket, other, used)
      local rule = state.rule
      if other.rule.algorithm == sliding_window and other.rule.micros == rule.micros then
        state.used, state.since = least(other.used, rule.capacity), other.since
        state.rest = least(other.rest, rule.capacity)
      else
        state.used = used
        state.since = bucket.now - bucket.now % rule.micros
      end
    end

    -- Takes them from the current count, then as much from the previous one as is in view for the others.
    function sliding_window.grant(state, bucket, permits)
      local others, micros = permits - state.used, state.rule.micros
      if others <= 0 then
        state.used = state.used - permits
        return
      end
      local left, rest = state.since + micros - bucket.now, 0
      local whole, part = multiply_and_divide(state.rest, left, micros)
      if others < whole + (part > 0 and 1 or 0) then
        whole, part = multiply_and_divide(others, micros, left)
        rest = state.rest - whole - (part > 0 and 1 or 0)
      end
      state.used, state.rest = 0, rest
    end

    function sliding_window.refund(state, _, permits, receipt)
      if state.since == receipt.since then
        state.used = greatest(0, state.used - permits)
      elseif state.since - receipt.since == state.rule.micros then
        state.rest = greatest(0, state.rest - permits)
      end
    end
  end

  return sliding_window
end
