-- Decides call by call, each seeing what those before it took, as if each had a run of its own at the same time. All
-- charges of a call are decided together: if every binding one fits, all are charged; else none is.
--   permits  asked for; n+x: if n are admitted, up to x more, but at most half of what is left then
--   reply    for each charge: permits remaining, microseconds to wait before going on, microseconds until it could
--            succeed (0: it fits, -1: never), microseconds until the bucket is as if never used; with receipts also used,
--            since and rest of its section and the time, which give_back.lua wants; and how many more were taken, where
--            asked for.
--            All are -1 in a call of which a key holds what is not ours. Nothing of that call is charged.

-- The buckets of this run by their keys, false where the value is none of ours. They are written once all is decided.
local buckets = {}
for key, quick in pairs(counts) do
  local known, charged = parse_rule(quick[RULE]), quick[RESET] and true
  local own = {rule = known, used = quick[USED], since = quick[SINCE], rest = quick[REST], leased = quick[LEASED]}
  buckets[key] = {key = key, rule = known, now = clock, own = own, charged = charged, unwritten = charged}
end

-- A bucket stays as it is for who comes next, unless he has another rule, or what is to be written down without a charge
-- may make it a bucket that is as if never used.
local function bucket_of(i)
  local key, rule = key_of[i], limit_of(i).rule
  local bucket = buckets[key]
  if bucket == nil or bucket and (bucket.rule ~= rule or bucket.unwritten and not bucket.charged) then
    if bucket and bucket.unwritten then save(bucket) end
    bucket = load(key, rule)
    buckets[key] = bucket
  end
  return bucket
end

-- Returns how many permits are asked for, and how many more in advance.
local function permits_of(i)
  local text = permits_text[i]
  local permits, more = tonumber(text), 0
  if not permits then
    permits, more = string.match(text, '^(%d+)%+(%d+)$')
    permits, more = tonumber(permits), tonumber(more)
  end
  return permits, more
end

-- Returns the microseconds until so many permits are there, and how many are used now.
local function wait_for(permits, bucket)
  local rule, own = bucket.rule, bucket.own
  local used = rule.kind.used(own, bucket)
  if permits == 0 or used + permits <= rule.capacity then return 0, used end
  if permits > rule.capacity then return math.huge, used end
  return rule.kind.time_until(own, bucket, rule.capacity - permits), used
end

local function decide_charge(i, asked, rejected)
  local limit, bucket = limit_of(i), buckets[key_of[i]]
  local rule, own = bucket.rule, bucket.own
  local wanted, more = permits_of(i)
  local wait, used = wait_for(wanted, bucket)
  local fits, delay, retry, time = wait <= limit.ahead, 0, 0, bucket.now
  if fits then
    if wanted > 0 then delay = limit.spaced and reset_after(own, bucket) or wait end
    if more > 0 then
      local left = limit.ahead == 0 and not limit.spaced and rule.capacity - used - wanted or 0
      more = math.max(0, math.min(more, math.floor(left / 2)))
    end
  else
    retry, more = wait == math.huge and -1 or wait - limit.ahead, 0
  end
  if asked ~= LOOK then
    if bucket.lag and not fits then unusual().promise(bucket, retry) end
    if fits and wanted + more > 0 and not (rejected and limit.binding) then
      charge(bucket, wanted + more)
      used = rule.kind.used(own, bucket)
      if more > 0 and rule.kind.lease then
        rule.kind.lease(own, bucket)
        time = own.leased
      end
    end
    bucket.unwritten = bucket.unwritten or bucket.changed
  end
  replies[said + 1] = math.max(0, rule.capacity - used)
  replies[said + 2] = delay
  replies[said + 3] = retry
  replies[said + 4] = used == 0 and 0 or rule.kind.time_until(own, bucket, 0)
  said = said + 4
  if asked == RECEIPTS or asked == LEASE then
    replies[said + 1] = own.used
    replies[said + 2] = own.since
    -- Where a log's entries in view begin changes when those before them are dropped, and says nothing.
    replies[said + 3] = rule.kind.has_entries and 0 or own.rest
    replies[said + 4] = time
    said = said + 4
  end
  if asked == LEASE then
    said = said + 1
    replies[said] = more
  end
end

local function decide(first, last, asked)
  for i = first, last do
    if not bucket_of(i) then
      local numbers = asked == LEASE and 9 or asked == RECEIPTS and 8 or 4
      for _ = 1, (last - first + 1) * numbers do
        said = said + 1
        replies[said] = -1
      end
      return
    end
  end
  local rejected = false
  -- One charge alone fits or does not.
  for i = first, first < last and last or 0 do
    local limit = limit_of(i)
    if limit.binding and wait_for(permits_of(i), buckets[key_of[i]]) > limit.ahead then rejected = true end
  end
  for i = first, last do decide_charge(i, asked, rejected) end
end

local first = decided + 1
for i = first + 1, #codes + 1 do
  if asked_of[i] ~= FURTHER then
    decide(first, i - 1, asked_of[first])
    first = i
  end
end
for _, bucket in pairs(buckets) do
  if bucket and bucket.unwritten then save(bucket) end
end
return replies
