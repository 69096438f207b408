-- Looks at one bucket, or does what an operator wants.
--   permits  empty: only looks
--            g10: grants permits, those that were taken last. Forgets the gaps that refunds have left
--            b600000000: blocks the key for so many microseconds, instead of any other block
--            u: ends a block, and forgets it
--            r: makes the bucket full, whatever the value is, and takes the permits that calls hold
--   reply    permits remaining, microseconds until the key is no longer blocked, 0, microseconds until the bucket is full again;
--            in place of the 0, a reset replies 1 if a call waits for the permits;
--            all are -1 if the value was not written by the starter; or -2 and the time, see decide.lua
--
-- takes: redis_call match greatest complete limit_of reset_after rare_state bucket_of save
-- leaves: blocked_for change_bucket

-- Returns the microseconds until the key is no longer blocked.
local function blocked_for(bucket)
  return bucket.block and greatest(0, bucket.block.till - bucket.now) or 0
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

local function change_bucket(key, limit, text)
  local rule = limit_of(limit).rule
  if text == 'r' and not rule.algorithm.reset then
    redis_call('DEL', key)
    return rule.capacity, 0, 0, 0
  end
  local bucket = bucket_of(key, rule)
  if text == 'r' then return rule.capacity, 0, rule.algorithm.reset(bucket.own, bucket), 0 end
  if bucket.foreign == true then return -1, -1, -1, -1 end
  if bucket.foreign then return -2, bucket.foreign, -1, -1 end
  local kind, amount = match(text, '^(%l?)(%d*)$')
  if kind == 'g' then
    if bucket.others then rare_state().recover_others(bucket) end
    bucket.granted = false
    grant(bucket.own, bucket, amount + 0)
    for _, state in ipairs(bucket.others or {}) do grant(state, bucket, amount + 0) end
  elseif kind == 'b' then
    bucket.block = {since = bucket.now, till = bucket.now + amount, violations = 0}
  elseif kind == 'u' then
    bucket.block = nil
  end
  bucket.reset = reset_after(bucket.own, bucket)
  if kind ~= '' then
    -- A repaid debt is no longer needed until the end of its windows.
    bucket.window = nil
    save(bucket)
  end
  return greatest(0, rule.capacity - rule.algorithm.used(bucket.own, bucket)), blocked_for(bucket), 0, bucket.reset
end
