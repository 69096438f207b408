-- Undoes the charges of one call, except for permits that have come back.
--   permits  how many were charged, and the receipt: permits:used:since:rest:time
--
-- takes: codes complete rare_state load save REFUND key_of asked_of permits_text limit_of
-- leaves:

if asked_of[1] == REFUND then
  for i = 1, #codes do
    local rule = limit_of(i).rule
    local permits, used, since, rest, time = string.match(permits_text[i], '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
    local bucket = load(key_of[i], rule)
    local own = bucket and bucket.own
    -- Without its state, there is nothing to undo: other rules replaced it, or the bucket has expired since.
    if own and not bucket.rule_is_new and rule.algorithm.used(own, bucket) > 0 then
      rare_state().recover_others(bucket)
      local receipt = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest), time = tonumber(time)}
      complete(rule.algorithm).refund(own, bucket, tonumber(permits), receipt)
      rule.algorithm.recover(own, bucket)
      save(bucket)
    end
  end
  return {}
end
