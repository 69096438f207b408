-- Decides call by call, each seeing what those before it took, as if each had a run of its own at the same time. All
-- charges of a call are decided together: if every binding one fits, all are charged; else none is.
--   asked    0 to look only, 1 to charge, 2 to charge and give receipts, 4 to charge and take more in advance
--   permits  asked for; n+x: if n are admitted, up to x more, but at most half of what is left then
--   reply    for each charge: permits remaining, microseconds to wait before going on, microseconds until it could
--            succeed (0: it fits, -1: never), microseconds until the bucket is as if never used; with receipts also used,
--            since and rest of its section, which give_back.lua wants; and how many more were taken, where asked for.
--            All are -1 in a call of which a key holds what is not ours. Nothing of that call is charged.

local NUMBERS = {[LOOK] = 4, ['1'] = 4, [RECEIPTS] = 7, [LEASE] = 8}

-- The buckets of this run by their keys, false where the value is none of ours. They are written once all is decided.
local buckets = {}

local function write(bucket)
  if bucket and bucket.to_be_written then
    save(bucket)
    bucket.to_be_written = false
  end
end

-- A bucket stays as it is for who comes next, unless he has another rule, or what was written down without a charge may
-- make it a bucket that is as if never used.
local function bucket_of(key, rule)
  local bucket = buckets[key]
  if bucket == nil or bucket and (bucket.rule ~= rule or bucket.to_be_written and not bucket.charged) then
    write(bucket)
    bucket = load(key, clock, rule)
    buckets[key] = bucket
  end
  return bucket
end

local function read_charge(i)
  local limit = limit_of(i)
  local wanted, more = string.match(permits_of(i), '^(%d+)%+?(%d*)$')
  local bucket = bucket_of(KEYS[i], limit.rule)
  return bucket and {
    limit = limit,
    wanted = tonumber(wanted),
    most_more = limit.ahead == 0 and not limit.spaced and tonumber(more) or 0,
    more = 0,
    bucket = bucket,
    own = bucket.sections[1],
  }
end

-- Returns nil if a bucket of the call is none of ours.
local function read_charges(first, last)
  local charges = {}
  for i = first, last do
    local charge = read_charge(i)
    if not charge then return nil end
    charges[#charges + 1] = charge
  end
  return charges
end

-- Sets what can be said before it is known whether the other charges fit.
local function assess(c)
  local kind, capacity = c.limit.rule.kind, c.limit.rule.capacity
  local used = kind.used(c.own, c.bucket)
  local wait = 0
  if c.wanted > 0 and used + c.wanted > capacity then
    wait = c.wanted > capacity and math.huge or kind.time_until(c.own, c.bucket, capacity - c.wanted)
  end
  c.fits = wait <= c.limit.ahead
  c.delay, c.retry = 0, 0
  if not c.fits then
    c.retry = wait == math.huge and -1 or wait - c.limit.ahead
  else
    c.more = math.min(c.most_more, math.max(0, math.floor((capacity - used - c.wanted) / 2)))
    if c.wanted > 0 then c.delay = c.limit.spaced and reset_after(c.own, c.bucket) or wait end
  end
end

local replies = {}

local function say(number)
  replies[#replies + 1] = number
end

local function finish(c, asked, rejected)
  local bucket, own, rule = c.bucket, c.own, c.limit.rule
  local taken = c.wanted + c.more
  if asked ~= LOOK then
    if not c.fits then promise(bucket, c.retry) end
    if taken > 0 and c.fits and not (rejected and c.limit.binding) then
      charge(bucket, taken)
      bucket.charged = true
    end
    bucket.to_be_written = bucket.to_be_written or bucket.changed
  end
  say(math.max(0, rule.capacity - rule.kind.used(own, bucket)))
  say(c.delay)
  say(c.retry)
  say(reset_after(own, bucket))
  if NUMBERS[asked] > 4 then
    say(own.used)
    say(own.since)
    say(own.rest)
  end
  if asked == LEASE then say(c.more) end
end

local function decide(first, last, asked)
  local charges, rejected = read_charges(first, last), false
  if not charges then
    for _ = 1, (last - first + 1) * NUMBERS[asked] do say(-1) end
    return
  end
  for _, c in ipairs(charges) do
    assess(c)
    rejected = rejected or (c.limit.binding and not c.fits)
  end
  for _, c in ipairs(charges) do finish(c, asked, rejected) end
end

local first = 1
while first <= #KEYS do
  local last = first
  while string.sub(ARGV[1], last + 1, last + 1) == FURTHER do last = last + 1 end
  decide(first, last, string.sub(ARGV[1], first, first))
  first = last + 1
end
for _, key in ipairs(KEYS) do write(buckets[key]) end
return replies
