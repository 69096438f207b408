-- Settles charges after their calls: undoes them, except for permits that have come back, or charges more.
--   permits  permits:used:since:rest:time  undoes a charge: how many permits it took, and its receipt
--            part/permits:used:…           undoes a part of it
--            +permits                      charges so many, available or not: a bucket in debt rejects calls until they are back
--   reply    for each charge that cannot be settled: its number from 0, and why as in decide.lua: -1 and -1, -2 and a time, or -3 and a text
--
-- takes: match quotient least greatest refund_gaps complete limit_of reset_after rare_state bucket_of save
-- leaves: settle_charge

-- Returns how many permits come back in 2^52 microseconds. With more in use, a time would not be exact.
local function most_used(rule)
  return least(2 ^ 52, quotient(2 ^ 52, rule.micros) * (rule.permits or rule.capacity))
end

local function force(state, bucket, permits)
  local algorithm, rule = complete(state.rule.algorithm), state.rule
  if algorithm.force then
    algorithm.force(state, bucket, permits)
  else
    state.used = greatest(state.used, least(state.used + permits, (algorithm.most or most_used)(rule)))
  end
end

local function settle_charge(key, limit, text)
  local rule = limit_of(limit).rule
  local bucket = bucket_of(key, rule)
  local own, more = bucket.own, match(text, '^%+(%d+)$')
  if bucket.foreign then return bucket.foreign end
  if bucket.others then rare_state().recover_others(bucket) end
  if more then
    bucket.appended = false
    force(own, bucket, more + 0)
    for _, state in ipairs(bucket.others or {}) do force(state, bucket, more + 0) end
  else
    local part = match(text, '^(%d+)/')
    local permits, used, since, rest, time = match(text, '(%d+):(%d+):(%d+):(%d+):(%d+)$')
    -- Without its state, there is nothing to undo: other rules replaced it, or the bucket has expired since.
    if bucket.rule_is_new or rule.algorithm.used(own, bucket) == 0 then return end
    local receipt = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest), time = tonumber(time)}
    receipt.permits = tonumber(permits)
    -- Permits leased before or since may be used later than these were: refunding these would let those exceed the limit. Only the
    -- last lease itself can refund, because it knows which of its permits remain unused. And what was not counted of another
    -- rule's call would be refunded in place of these. An algorithm of an application counts what is refunded instead.
    if receipt.time < own.leased and not rule.algorithm.own then return end
    local refund = complete(rule.algorithm).refund or refund_gaps().refund
    refund(own, bucket, tonumber(part or permits), receipt)
    rule.algorithm.recover(own, bucket)
  end
  -- With a debt the key does not expire with its window.
  bucket.window = nil
  bucket.reset = reset_after(own, bucket)
  save(bucket)
end
