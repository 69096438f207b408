-- Undoes the charges of one call, except for permits that have come back.
--   permits  how many were charged, and the receipt: permits:used:since:rest:time
--
-- takes: match complete limit_of reset_after rare_state bucket_of save
-- leaves: refund_charge

local function refund_charge(key, limit, text)
  local permits, used, since, rest, time = match(text, '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
  local rule = limit_of(limit).rule
  local bucket = bucket_of(key, rule)
  local own = bucket.own
  -- Without its state, there is nothing to undo: other rules replaced it, or the bucket has expired since.
  if bucket.foreign or bucket.rule_is_new or rule.algorithm.used(own, bucket) == 0 then return end
  if bucket.others then rare_state().recover_others(bucket) end
  local receipt = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest), time = tonumber(time)}
  complete(rule.algorithm).refund(own, bucket, tonumber(permits), receipt)
  rule.algorithm.recover(own, bucket)
  bucket.reset = reset_after(own, bucket)
  save(bucket)
end
