-- Decides all charges of a call together: if every binding one fits, all are charged; else none is.
--   KEYS  one bucket a charge
--   ARGV  0 to look only, 1 to charge, 2 to charge and give receipts; then for each charge: the rule, the permits asked
--         for, how many microseconds ahead they may be reserved, 1 if calls are spaced out or 0, and 1 if the limit is
--         binding or 0 if it is a dry run
--   reply for each charge: permits remaining, microseconds to wait before going on, microseconds until it could
--         succeed (0: it fits, -1: never), microseconds until the bucket is as if never used; with receipts also used,
--         since and rest of its section, which give_back.lua wants

local LOOK, RECEIPTS = '0', '2'

local function read_charge(i)
  local at = 2 + (i - 1) * FIELDS
  local rule = parse_rule(ARGV[at])
  local c = {
    rule = rule,
    wanted = tonumber(ARGV[at + 1]),
    ahead = tonumber(ARGV[at + 2]),
    spaced = ARGV[at + 3] == '1',
    binding = ARGV[at + 4] == '1',
    bucket = load(KEYS[i], clock, rule),
  }
  c.own = c.bucket and c.bucket.sections[1]
  return c
end

-- Sets what can be said before it is known whether the other charges fit.
local function assess(c)
  local kind, capacity = c.rule.kind, c.rule.capacity
  local used = kind.used(c.own, c.bucket)
  local wait = 0
  if c.wanted > 0 and used + c.wanted > capacity then
    wait = c.wanted > capacity and math.huge or kind.time_until(c.own, c.bucket, capacity - c.wanted)
  end
  c.fits = wait <= c.ahead
  c.delay, c.retry = 0, 0
  if not c.fits then
    c.retry = wait == math.huge and -1 or wait - c.ahead
    promise(c.bucket, c.retry)
  elseif c.wanted > 0 then
    c.delay = c.spaced and reset_after(c.own, c.bucket) or wait
  end
end

local charges, rejected = {}, false
for i = 1, #KEYS do
  local c = read_charge(i)
  if not c.bucket then return redis.error_reply('FOREIGN the value at the key is not a rate limit') end
  assess(c)
  rejected = rejected or (c.binding and not c.fits)
  charges[i] = c
end

local replies = {}
for _, c in ipairs(charges) do
  if ARGV[1] ~= LOOK and c.wanted > 0 and c.fits and not (rejected and c.binding) then charge(c.bucket, c.wanted) end
  replies[#replies + 1] = math.max(0, c.rule.capacity - c.rule.kind.used(c.own, c.bucket))
  replies[#replies + 1] = c.delay
  replies[#replies + 1] = c.retry
  replies[#replies + 1] = reset_after(c.own, c.bucket)
  if ARGV[1] == RECEIPTS then
    replies[#replies + 1] = c.own.used
    replies[#replies + 1] = c.own.since
    replies[#replies + 1] = c.own.rest
  end
  if ARGV[1] ~= LOOK and c.bucket.changed then save(c.bucket) end
end
return replies
