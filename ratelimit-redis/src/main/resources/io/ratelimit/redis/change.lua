-- Changes one bucket apart from decisions, or looks at it: settles a charge after its call, or does what an operator wants.
--   permits  empty: only looks
--            permits:used:since:rest:time  undoes a charge, except for permits that have come back: how many it took, and its receipt
--            part/permits:used:…           undoes a part of it
--            +permits    charges so many, available or not: a bucket in debt rejects calls until they are back
--            g10         grants permits, those that were taken last. Forgets the gaps that refunds have left
--            b600000000  blocks the key for so many microseconds, instead of any other block
--            u           ends a block, and forgets it
--            r           makes the bucket full, whatever the value is, and takes the permits that calls hold
--   reply    permits remaining, microseconds until the key is no longer blocked, 0, microseconds until the bucket is full again;
--            in place of the 0, a reset replies 1 if a call waits for the permits. If the bucket cannot be changed: as in decide.lua
--   reply    to settlements: for each that cannot be made, its number from 0, and why as in decide.lua: -1 and -1, -2 and a time, or -3
--            and a text
--
-- takes: redis_call match quotient least greatest refund_gaps complete limit_of reset_after rare_state bucket_of save
-- leaves: blocked_for change_bucket

-- Returns the microseconds until the key is no longer blocked.
local function blocked_for(bucket)
  return bucket.block and greatest(0, bucket.block.till - bucket.now) or 0
end

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

local function grant(state, bucket, permits)
  local algorithm = complete(state.rule.algorithm)
  if algorithm.grant then
    algorithm.grant(state, bucket, permits)
  else
    state.used, state.gaps = greatest(0, state.used - permits), nil
  end
  algorithm.recover(state, bucket)
end

-- Returns whether there was anything to undo.
local function undo(own, bucket, text)
  local algorithm = own.rule.algorithm
  local part = match(text, '^(%d+)/')
  local permits, used, since, rest, time = match(text, '(%d+):(%d+):(%d+):(%d+):(%d+)$')
  -- Without its state, there is nothing to undo: other rules replaced it, or the bucket has expired since.
  if bucket.rule_is_new or algorithm.used(own, bucket) == 0 then return false end
  local receipt = {permits = permits + 0, used = used + 0, since = since + 0, rest = rest + 0, time = time + 0}
  -- Permits leased before or since may be used later than these were: refunding these would let those exceed the limit. Only the
  -- last lease itself can refund, because it knows which of its permits remain unused. And what was not counted of another
  -- rule's call would be refunded in place of these. An algorithm of an application counts what is refunded instead.
  if receipt.time < own.leased and not algorithm.own then return false end
  local refund, later = complete(algorithm).refund, nil
  if not refund then refund, later = refund_gaps().refund, refund_gaps().later(own, receipt) end
  permits, used, rest = tonumber(part or permits), own.used, own.rest
  refund(own, bucket, permits, later or receipt)
  algorithm.recover(own, bucket)
  if bucket.others and (own.used ~= used or own.rest ~= rest) then
    rare_state().refund_observed(bucket, permits, receipt.time, refund, later)
  end
  return true
end

-- Returns why the bucket cannot be changed, nil if it can; then the reply.
local function change_bucket(key, limit, text)
  local rule = limit_of(limit).rule
  if text == 'r' and not rule.algorithm.reset then
    redis_call('DEL', key)
    return nil, rule.capacity, 0, 0, 0
  end
  local bucket = bucket_of(key, rule)
  local own, kind, amount = bucket.own, match(text, '^(%D?)(%d*)')
  if kind == 'r' then return nil, rule.capacity, 0, rule.algorithm.reset(own, bucket), 0 end
  if bucket.foreign then return bucket.foreign end
  if bucket.others then rare_state().recover_others(bucket) end
  bucket.appended, bucket.granted = false, false
  if kind == '+' or kind == 'g' then
    local change = kind == '+' and force or grant
    change(own, bucket, amount + 0)
    for _, state in ipairs(bucket.others or {}) do change(state, bucket, amount + 0) end
  elseif kind == 'b' then
    bucket.block = {since = bucket.now, till = bucket.now + amount, violations = 0}
  elseif kind == 'u' then
    bucket.block = nil
  elseif amount ~= '' and not undo(own, bucket, text) then
    return nil
  end
  bucket.reset = reset_after(own, bucket)
  if text ~= '' then
    -- With a debt the key does not expire with its window, and a repaid one is no longer needed until the end of its windows.
    bucket.window = nil
    save(bucket)
  end
  return nil, greatest(0, rule.capacity - rule.algorithm.used(own, bucket)), blocked_for(bucket), 0, bucket.reset
end
