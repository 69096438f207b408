-- Decides call by call, as if each had a run of its own at the same time: a call sees what those before it took. All charges
-- of a call are decided together: if every charge fits, dry runs aside, all are charged, else none but dry runs.
--   permits  n; or n+x: if n are admitted, up to x more, but at most half of what remains then
--   reply    for each charge: permits remaining, microseconds to wait before going on, microseconds until it could
--            succeed (0: it fits, -1: never), microseconds until the bucket is full again; with receipts also used,
--            since and rest of its state and the time, for refund.lua; for a lease also how many more were taken.
--            All are -1 if a key of the call holds a value that was not written by the starter. That call charges nothing.
--
-- takes: clock codes decided replies replied counts refund_gaps USED SINCE REST LEASED RESET RULE parse_rule reset_after rare_state
-- takes: load charge save LOOK RECEIPTS LEASE FURTHER key_of asked_of permits_text limit_of
-- leaves:

-- The buckets of this run by their keys, false if the value was not written by the starter. Written once all is decided.
local buckets = {}
for key, count in pairs(counts) do
  local known, charged = parse_rule(count[RULE]), count[RESET] and true
  local own = {rule = known, used = count[USED], since = count[SINCE], rest = count[REST], leased = count[LEASED]}
  buckets[key] = {key = key, rule = known, now = clock, own = own, charged = charged, unwritten = charged}
end

-- Returns the bucket as the previous call left it. Reads it again if the rule is another one, or if writing it without a
-- charge may find it full again.
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

-- Returns how many permits the call wants, and how many more in advance.
local function permits_of(i)
  local text = permits_text[i]
  local permits, more = tonumber(text), 0
  if not permits then
    permits, more = string.match(text, '^(%d+)%+(%d+)$')
    permits, more = tonumber(permits), tonumber(more)
  end
  return permits, more
end

-- Returns the microseconds until that many permits are available, and how many are used now.
local function wait_for(permits, bucket)
  local rule, own = bucket.rule, bucket.own
  local used = rule.algorithm.used(own, bucket)
  if permits == 0 or used + permits <= rule.capacity then return 0, used end
  if permits > rule.capacity then return math.huge, used end
  return rule.algorithm.time_until(own, bucket, rule.capacity - permits), used
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
    if bucket.skew and not fits then rare_state().promise(bucket, retry) end
    if fits and wanted + more > 0 and not (rejected and limit.binding) then
      charge(bucket, wanted + more)
      used = rule.algorithm.used(own, bucket)
      if more > 0 and rule.algorithm.lease then
        rule.algorithm.lease(own, bucket)
        time = own.leased
      end
    end
    bucket.unwritten = bucket.unwritten or bucket.changed
  end
  replies[replied + 1] = math.max(0, rule.capacity - used)
  replies[replied + 2] = delay
  replies[replied + 3] = retry
  replies[replied + 4] = used == 0 and 0 or rule.algorithm.time_until(own, bucket, 0)
  replied = replied + 4
  if asked == RECEIPTS or asked == LEASE then
    replies[replied + 1] = own.used
    replies[replied + 2] = own.since
    -- For a log, rest changes whenever old entries are removed, and is no use in a receipt.
    replies[replied + 3] = rule.algorithm.has_entries and 0 or own.rest
    if own.gaps then
      replies[replied + 1], replies[replied + 2], replies[replied + 3] = refund_gaps().receipt(own)
    end
    replies[replied + 4] = time
    replied = replied + 4
  end
  if asked == LEASE then
    replied = replied + 1
    replies[replied] = more
  end
end

local function decide(first, last, asked)
  for i = first, last do
    if not bucket_of(i) then
      local numbers = asked == LEASE and 9 or asked == RECEIPTS and 8 or 4
      for _ = 1, (last - first + 1) * numbers do
        replied = replied + 1
        replies[replied] = -1
      end
      return
    end
  end
  local rejected = false
  -- A single charge needs no look ahead.
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
