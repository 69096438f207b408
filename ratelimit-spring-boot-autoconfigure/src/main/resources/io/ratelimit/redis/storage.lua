-- Buckets are read, charged and written.

-- Returns false if the value at the key is none of ours.
local function load(key, rule)
  local listed, text = rule.kind.has_entries, nil
  if listed then
    text = redis.pcall('LINDEX', key, 0)
  else
    text = redis.pcall('GET', key)
  end
  local bucket = {key = key, rule = rule, now = clock, listed = listed, own = nil, charged = false, unwritten = false}
  if not text then
    bucket.own, bucket.rule_is_new, bucket.listed = {rule = rule, used = 0, since = clock, rest = 0, leased = 0}, true, false
  else
    bucket.own = only_section(rule, text)
    if not bucket.own then return unusual().load(bucket, text) and bucket end
  end
  if listed then
    bucket.length, bucket.blocks = text and redis.call('LLEN', key) - 1 or 0, {}
    bucket.count = bucket.length
  end
  rule.kind.recover(bucket.own, bucket)
  return bucket
end

-- Charges a call that the bucket's rule has admitted. All recover before, because logs share the call's entry.
local function charge(bucket, permits)
  if bucket.others then unusual().recover_others(bucket) end
  bucket.appended = false
  bucket.rule.kind.take(bucket.own, bucket, permits)
  if bucket.others then unusual().witness(bucket, permits) end
  bucket.charged, bucket.unwritten = true, true
end

local function text_of_all(bucket)
  local text = text_of(bucket.own)
  return (bucket.others or bucket.lag) and unusual().add(bucket, text) or text
end

local function save(bucket)
  if bucket.others then unusual().recover_others(bucket) end
  local reset = reset_after(bucket.own, bucket)
  if bucket.others or bucket.lag then reset = unusual().last(bucket, reset) end
  local expiry = quotient(reset + 999, 1000)
  if expiry == 0 then
    redis.call('DEL', bucket.key)
  elseif not (save_entries and save_entries(bucket, text_of_all, expiry)) then
    redis.call('SET', bucket.key, text_of_all(bucket), 'PX', expiry)
  end
  bucket.unwritten = false
end
