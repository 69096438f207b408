-- Reads, charges and writes buckets.
--
-- takes: clock quotient refund_gaps only_state text_of reset_after rare_state
-- leaves: load charge save

-- Returns the bucket; false if the value at the key was not written by the starter.
local function load(key, rule)
  local listed, text = rule.algorithm.has_entries, nil
  if listed then
    text = redis.pcall('LINDEX', key, 0)
  else
    text = redis.pcall('GET', key)
  end
  local bucket = {key = key, rule = rule, now = clock, listed = listed, own = nil, charged = false, unwritten = false}
  if not text then
    bucket.own, bucket.rule_is_new, bucket.listed = {rule = rule, used = 0, since = clock, rest = 0, leased = 0}, true, false
  else
    bucket.own = only_state(rule, text)
    if not bucket.own then return rare_state().load(bucket, text) and bucket end
  end
  if listed then
    bucket.length, bucket.blocks = text and redis.call('LLEN', key) - 1 or 0, {}
    bucket.count = bucket.length
  end
  rule.algorithm.recover(bucket.own, bucket)
  return bucket
end

-- Charges a call that the bucket's rule has admitted. All states recover first, because logs share the entry of the call.
local function charge(bucket, permits)
  if bucket.others then rare_state().recover_others(bucket) end
  bucket.appended = false
  bucket.rule.algorithm.take(bucket.own, bucket, permits)
  if bucket.others then rare_state().observe(bucket, permits) end
  bucket.charged, bucket.unwritten = true, true
end

local function text_of_all(bucket)
  local text = text_of(bucket.own)
  return (bucket.others or bucket.skew) and rare_state().add(bucket, text) or text
end

-- Returns the function that writes the bucket with its entries, if one of its algorithms has them.
local function save_of(bucket)
  local save = bucket.own.rule.algorithm.save
  return save or bucket.others and rare_state().save_of(bucket)
end

local function save(bucket)
  if bucket.others then rare_state().recover_others(bucket) end
  local reset = reset_after(bucket.own, bucket)
  if bucket.own.gaps then reset = math.max(reset, refund_gaps().last(bucket.own) - bucket.now) end
  if bucket.others or bucket.skew then reset = rare_state().last(bucket, reset) end
  local expiry = quotient(reset + 999, 1000)
  if expiry == 0 then
    redis.call('DEL', bucket.key)
  else
    local save_entries, text = save_of(bucket), text_of_all(bucket)
    if save_entries then
      save_entries(bucket, text, expiry)
    else
      redis.call('SET', bucket.key, text, 'PX', expiry)
    end
  end
  bucket.unwritten = false
end
