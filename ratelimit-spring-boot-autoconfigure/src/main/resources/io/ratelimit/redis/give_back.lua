-- Undoes charges, as far as they are not back by themselves.
--   KEYS  one bucket a charge
--   ARGV  3; then for each charge: the rule, the permits, and its receipt: used, since and rest

local GIVE_BACK = '3'

local FIELDS = 5

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]

if ARGV[1] == GIVE_BACK then
  for i = 1, #KEYS do
    local at = 2 + (i - 1) * FIELDS
    local rule = parse_rule(ARGV[at])
    local receipt = {used = tonumber(ARGV[at + 2]), since = tonumber(ARGV[at + 3]), rest = tonumber(ARGV[at + 4])}
    local bucket = load(KEYS[i], clock, rule)
    local own = bucket and bucket.sections[1]
    -- Without a section the rule was pushed out, or the bucket was gone since: what others count is not its to undo.
    if own and not bucket.rule_is_new and rule.kind.used(own, bucket) > 0 then
      recover_others(bucket)
      rule.kind.give_back(own, bucket, tonumber(ARGV[at + 1]), receipt)
      rule.kind.recover(own, bucket)
      save(bucket)
    end
  end
  return {}
end
