-- Undoes charges of one call, as far as they are not back by themselves.
--   permits  how many they were, and the receipt: permits:used:since:rest

local function give_back(charge)
  local rule = limit_of(charge).rule
  local permits, used, since, rest = string.match(permits_of(charge), '^(%d+):(%d+):(%d+):(%d+)$')
  local bucket = load(KEYS[charge], clock, rule)
  local own = bucket and bucket.sections[1]
  -- Without a section the rule was pushed out, or the bucket was gone since: what others count is not its to undo.
  if own and not bucket.rule_is_new and rule.kind.used(own, bucket) > 0 then
    recover_others(bucket)
    local receipt = {used = tonumber(used), since = tonumber(since), rest = tonumber(rest)}
    rule.kind.give_back(own, bucket, tonumber(permits), receipt)
    rule.kind.recover(own, bucket)
    save(bucket)
  end
end

if string.sub(ARGV[1], 1, 1) == GIVE_BACK then
  for charge = 1, #KEYS do give_back(charge) end
  return {}
end
