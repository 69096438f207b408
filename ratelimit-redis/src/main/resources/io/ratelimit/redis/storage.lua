-- Reads, charges and writes the buckets of a run.
--
-- takes: clock redis_call redis_pcall quotient greatest refund_gaps new_state read_only_state text_of rare_state
-- leaves: forget_buckets bucket_of charge save save_all saved

-- The buckets of a run. Later runs use their tables again.
local buckets, bucket_count, bucket_by_key = {}, 0, {}

-- Whether the run has begun to write a bucket.
local saved = false

-- Every field of a bucket; an algorithm with entries adds its own.
local function new_bucket()
  return {
    key = '',
    rule = nil,
    own = new_state(nil, 0),  -- the state of that rule
    others = nil,             -- states of other rules, the last used first
    skew = nil,               -- the clock skew
    block = nil,              -- the block of the key
    now = 0,                  -- the bucket's own time
    reset = 0,                -- microseconds until nothing is used by the rule
    window = nil,             -- if the key expires with a window: when that started
    foreign = false,          -- why it is of no use: true, a time or a text, see reason_of in decide.lua
    rule_is_new = false,      -- whether the bucket had no state of the rule
    listed = false,           -- whether the key holds a list
    write = nil,              -- the function that writes it with its entries, if one of its algorithms has them
    charged = false,
    changed = false,          -- whether it has to be written even without a charge
    unwritten = false,
    written = false,
  }
end

local function load(bucket, rule)
  local algorithm, own, text = rule.algorithm, bucket.own, nil
  bucket.rule, bucket.others, bucket.skew, bucket.block, bucket.now, bucket.window = rule, nil, nil, nil, clock, nil
  bucket.foreign, bucket.rule_is_new, bucket.listed, bucket.write = false, false, false, algorithm.write
  bucket.charged, bucket.changed, bucket.unwritten, bucket.written = false, false, false, false
  if algorithm.read then text = algorithm.read(bucket) else text = redis_pcall('GET', bucket.key) end
  if not text then
    own.rule, own.used, own.since, own.rest, own.leased, own.gaps = rule, 0, clock, 0, 0, nil
    bucket.rule_is_new = true
  elseif type(text) ~= 'string' or not read_only_state(own, rule, text) then
    if not rare_state().load(bucket, text) then bucket.foreign = true end
    return
  end
  if algorithm.expires_with_window and own.used > 0 then bucket.window = own.since end
  algorithm.recover(own, bucket)
end

local function save(bucket)
  local own, reset = bucket.own, bucket.reset
  saved = true
  if bucket.others then rare_state().recover_others(bucket) end
  if own.gaps then reset = greatest(reset, refund_gaps().last(own) - bucket.now) end
  local text = text_of(own)
  if bucket.others or bucket.skew or bucket.block then
    reset, text = rare_state().last(bucket, reset), rare_state().add(bucket, text)
  end
  local expiry = quotient(reset + 999, 1000)
  if expiry == 0 then
    redis_call('DEL', bucket.key)
  elseif bucket.write then
    bucket.write(bucket, text, expiry)
  elseif own.used > 0 and own.since == bucket.window and not bucket.block then
    -- The key expires when it has to, and setting that takes Redis longer than the value.
    redis_call('SET', bucket.key, text, 'KEEPTTL')
  else
    redis_call('SET', bucket.key, text, 'PX', expiry)
  end
  bucket.unwritten, bucket.written = false, true
end

local function save_all()
  for i = 1, bucket_count do
    if buckets[i].unwritten then save(buckets[i]) end
  end
end

local function forget_buckets()
  for i = 1, bucket_count do bucket_by_key[buckets[i].key] = nil end
  bucket_count, saved = 0, false
end

-- Returns the bucket as the previous call left it. Reads it again if it was written, if the rule is another one, or if writing
-- it without a charge may find it full again.
local function bucket_of(key, rule)
  local bucket = bucket_by_key[key]
  if not bucket then
    local count = bucket_count + 1
    bucket = buckets[count] or new_bucket()
    bucket.key, buckets[count], bucket_count = key, bucket, count
    bucket_by_key[key] = bucket
    load(bucket, rule)
  elseif bucket.foreign ~= true and (bucket.rule ~= rule or bucket.written or bucket.unwritten and not bucket.charged) then
    if bucket.unwritten then save(bucket) end
    load(bucket, rule)
  end
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
