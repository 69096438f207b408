-- Undoes charges of one call, as far as they are not back by themselves.
--   permits  how many they were, and the receipt: permits:used:since:rest:time

if asked_of[1] == GIVE_BACK then
  for i = 1, #codes do
    local rule = limit_of(i).rule
    local permits, used, since, rest, time = string.match(permits_text[i], '^(%d+):(%d+):(%d+):(%d+):(%d+)$')
    local bucket = load(key_of[i], rule)
    local own = bucket and bucket.own
    -- Without a section the rule was pushed out, or the bucket was gone since: what others count is not its to undo.
    if own and not bucket.rule_is_new and rule.kind.used(own, bucket) > 0 then
      unusual().recover_others(bucket)
      local receipt = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest), time = tonumber(time)}
      complete(rule.kind).give_back(own, bucket, tonumber(permits), receipt)
      rule.kind.recover(own, bucket)
      save(bucket)
    end
  end
  return {}
end
