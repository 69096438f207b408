-- Numbers permits in the order in which they were taken, if they also come back in this order. Without refunds a charge's
-- number follows from the time at which its permits are to be back. A refund moves later permits to an earlier time. From then
-- on numbers are counted, and each refund of permits behind others leaves a gap.
--   used, since, rest  the state before the first refund: its first permit in use has number 1
--   first              how many numbers are before the first permit in use
--   then for each gap: permits in use before it, and how many numbers were refunded
-- A receipt with a number has since of that state, and its rest increased by the rule's permits; any other rest is smaller.
--
-- takes: format match least greatest
-- leaves: refund_gaps

local function make_refund_gaps()
  local refund_gaps = {}

  local GAPS_AT_MOST = 16

  function refund_gaps.parse(text)
    local used, since, rest, first, pairs_text = match(text, '^%*(%d+):(%d+):(%d+):(%d+)([%d:]*)$')
    if not used then return nil end
    local gaps = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest), first = tonumber(first)}
    for before, permits in string.gmatch(pairs_text, ':(%d+):(%d+)') do
      gaps[#gaps + 1] = tonumber(before)
      gaps[#gaps + 1] = tonumber(permits)
    end
    return refund_gaps.text(gaps) == text and gaps or nil
  end

  function refund_gaps.text(gaps)
    local text = format('*%.0f:%.0f:%.0f:%.0f', gaps.used, gaps.since, gaps.rest, gaps.first)
    for i = 1, #gaps do text = format('%s:%.0f', text, gaps[i]) end
    return text
  end

  -- Returns until when they are needed if nothing is used: then the latest receipt without a number was to be back.
  function refund_gaps.last(state)
    local gaps = state.gaps
    local origin = {rule = state.rule, used = gaps.used, since = gaps.since, rest = gaps.rest}
    return state.rule.algorithm.time_until(origin, {now = 0}, 0)
  end

  -- Returns what a receipt has instead of used, since and rest.
  function refund_gaps.receipt(state)
    local gaps = state.gaps
    local number = gaps.first + state.used
    for i = 2, #gaps, 2 do number = number + gaps[i] end
    return number, gaps.since, gaps.rest + state.rule.permits
  end

  -- If no permits in use are before the gap, the next of them has the number behind it.
  local function add(gaps, before, permits)
    if before <= 0 then
      gaps.first = gaps.first + permits
    else
      gaps[#gaps + 1] = before
      gaps[#gaps + 1] = permits
    end
  end

  -- Before the permits that have come back are subtracted from those in use.
  function refund_gaps.recover(state, bucket, back)
    local gaps = state.gaps
    if back == state.used and bucket.now >= refund_gaps.last(state) then
      state.gaps = nil
    elseif back > 0 then
      local left = {used = gaps.used, since = gaps.since, rest = gaps.rest, first = gaps.first + back}
      for i = 1, #gaps, 2 do add(left, gaps[i] - back, gaps[i + 1]) end
      state.gaps = left
    end
  end

  -- Returns how many permits in use have this number or a smaller one.
  local function used_up_to(number, gaps)
    local used = greatest(0, number - gaps.first)
    for i = 1, #gaps, 2 do used = used - least(gaps[i + 1], greatest(0, used - gaps[i])) end
    return used
  end

  -- The nearest two become one, at the place of the earlier: a refund of charges between them may be less than what is out
  -- of them, never more.
  local function join_nearest(gaps)
    local nearest = 1
    for i = 3, #gaps - 2, 2 do
      if gaps[i + 2] - gaps[i] < gaps[nearest + 2] - gaps[nearest] then nearest = i end
    end
    table.remove(gaps, nearest + 2)
    gaps[nearest + 1] = gaps[nearest + 1] + table.remove(gaps, nearest + 2)
  end

  local function with_gap(gaps, before, permits)
    local next = {used = gaps.used, since = gaps.since, rest = gaps.rest, first = gaps.first}
    local gone, behind = permits, 1
    for i = 1, #gaps, 2 do
      if gaps[i] < before then
        add(next, gaps[i], gaps[i + 1])
      elseif gaps[i] <= before + permits then
        gone = gone + gaps[i + 1]
      end
      if gaps[i] <= before + permits then behind = i + 2 end
    end
    add(next, before, gone)
    for i = behind, #gaps, 2 do add(next, gaps[i] - permits, gaps[i + 1]) end
    if #next > 2 * GAPS_AT_MOST then join_nearest(next) end
    return next
  end

  -- Returns how many permits in use were taken after a charge.
  function refund_gaps.later(state, receipt)
    local gaps = state.gaps or {used = state.used, since = state.since, rest = state.rest, first = 0}
    local number
    if receipt.rest < state.rule.permits then
      number = state.rule.algorithm.out_before(receipt, gaps, state.rule)
    else
      -- Any other is from before the bucket was full.
      number = receipt.since == gaps.since and receipt.used or 0
    end
    return state.used - least(used_up_to(number, gaps), state.used)
  end

  -- Undoes a charge, except for permits that have come back.
  function refund_gaps.refund(state, bucket, permits, later)
    local gaps = state.gaps or {used = state.used, since = state.since, rest = state.rest, first = 0}
    local out = state.used - later
    local refunded = least(permits, out)
    if refunded <= 0 then return end
    -- Behind the last permit in use no gap is needed: the next charge takes the numbers.
    if state.gaps or out < state.used then state.gaps = with_gap(gaps, out - refunded, refunded) end
    state.used = state.used - refunded
    -- If these permits were first in order, the next ones begin to come back now.
    if out == refunded then state.since, state.rest = bucket.now, 0 end
  end

  return refund_gaps
end

local refund_gaps_made

local function refund_gaps()
  refund_gaps_made = refund_gaps_made or make_refund_gaps()
  return refund_gaps_made
end
