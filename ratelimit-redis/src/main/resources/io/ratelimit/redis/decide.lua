-- Decides call by call, as if each had a run of its own at the same time: a call sees what those before it took. If every charge
-- of a call fits, dry runs aside, all are charged, else none but dry runs. A charge that does not fit, and might have, blocks its
-- key if the limit does so. If the key is blocked, no charge fits.
--   KEYS  one bucket for each charge, those of a call one after the other
--   ARGV  a character for each charge; then limit and permits of each charge that has its own
--   0     only looks
--   1     charges all limits of the call or none; 2: the same, with receipts; 6: the same for a call that holds permits
--   3     settles charges; 5: looks at one bucket or changes it; each in a run of its own, see change.lua
--   4     charges one limit, and takes more permits in advance
--   7     releases the permits that a holder has of one bucket; 8: renews those of holders
--   +     a further charge of the call before it
--   ,     a call that charges the same limit and permits as the one before it, for another bucket
--   =     the same for the same bucket, without a key of its own
--   limit the rule and its options: T20@1/100ms>500000~?
--         >micros  how far ahead permits may be reserved
--         ~        a leaky bucket: an admitted call waits until all permits taken before it are back
--         ?        a dry run, which rejects no call
--         #60000000,600000000  for how many microseconds violations block the key: the first, the next soon after it, …
--         |1793491200,1796083200  where calendar units begin, see calendar_window.lua
--   permits  n; or n+x for a lease: if n are admitted, up to x more, but at most half of what remains then
--            n@holder for permits that a call holds; n@holder! if the call waits for them. 0@holder for a release, and
--            1@holder,2@holder,… for a renewal
--   reply    for each charge: permits remaining, microseconds to wait before going on, microseconds until it could
--            succeed (0: it fits, -1: never), microseconds until the bucket is full again; with receipts also used,
--            since and rest of its state and the time, for change.lua; for a lease also how many more were taken.
--            In place of the wait, a release has 1 if a call waits for the permits, and a renewal how many were lost; that also
--            has, in place of the third, how many holders hold nothing since a reset, and behind the fourth their numbers from 0.
--            If a call cannot be decided, it charges nothing, and all are -1; but the first two are -2 and the bucket's time if a
--            limit does not name the calendar unit of that time, and -3 and a text if an algorithm of an application fails.
--   error    RATELIMIT_UNCHARGED: no call has charged anything, so each may be sent alone: only one may have a value that is corrupt.
--            A call that holds or releases permits may have been decided, but has no other effect if it is sent again.
--
-- takes: begin match byte floor least greatest refund_gaps limit_of forget_limits rare_state
-- takes: forget_buckets bucket_of charge save_all saved
-- takes: blocked_for change_bucket
-- leaves: run

local LOOK, CHARGE, RECEIPTS, SETTLE, LEASE, CHANGE, FURTHER, OTHER_KEY, AS_BEFORE = 48, 49, 50, 51, 52, 53, 43, 44, 61
local HOLD, RELEASE = 54, 55

-- The numbers of the reply, and how many there are: those of an earlier run may be behind them.
local replies, replied = {}, 0

-- The charges of the call that is being decided.
local bucket_at, limit_at, permits_at, more_at = {}, {}, {}, {}

-- Returns the microseconds until that many permits are available, and how many are used now.
local function wait_for(permits, bucket)
  local rule, own = bucket.rule, bucket.own
  local used = rule.algorithm.used(own, bucket)
  if permits == 0 or used + permits <= rule.capacity then return 0, used end
  if permits > rule.capacity then return math.huge, used end
  return rule.algorithm.time_until(own, bucket, rule.capacity - permits), used
end

local function decide_charge(bucket, limit, wanted, more, asked, rejected)
  local rule, own = bucket.rule, bucket.own
  local algorithm = rule.algorithm
  local wait, used = wait_for(wanted, bucket)
  local blocked = bucket.block and blocked_for(bucket) or 0
  local fits, delay, retry, time = wait <= limit.ahead and blocked == 0, 0, 0, bucket.now
  if fits then
    if wanted > 0 and limit.spaced then
      delay = used == 0 and 0 or algorithm.time_until(own, bucket, 0)
    elseif wanted > 0 then
      delay = wait
    end
    if more > 0 then
      local left = limit.ahead == 0 and not limit.spaced and rule.capacity - used - wanted or 0
      more = greatest(0, least(more, floor(left / 2)))
    end
  else
    if limit.blocks and blocked == 0 and wait < math.huge then
      local block = rare_state().violated(bucket.block, limit.blocks, bucket.now)
      blocked = block.till - bucket.now
      if asked ~= LOOK then bucket.block, bucket.changed = block, true end
    end
    if algorithm.refused and asked == HOLD then algorithm.refused(own, bucket) end
    retry, more = wait == math.huge and -1 or blocked > 0 and blocked or wait - limit.ahead, 0
  end
  if asked ~= LOOK then
    if bucket.skew and not fits then rare_state().promise(bucket, retry) end
    if fits and wanted + more > 0 and not (rejected and limit.binding) then
      charge(bucket, wanted + more)
      used = algorithm.used(own, bucket)
      if more > 0 and algorithm.lease then
        algorithm.lease(own, bucket)
        time = own.leased
      end
    end
    if bucket.changed then bucket.unwritten = true end
  end
  local reset = algorithm.reset_after and algorithm.reset_after(own, bucket)
    or used == 0 and 0 or algorithm.time_until(own, bucket, 0)
  bucket.reset = reset
  replies[replied + 1] = blocked > 0 and 0 or greatest(0, rule.capacity - used)
  replies[replied + 2] = delay
  replies[replied + 3] = retry
  replies[replied + 4] = greatest(reset, blocked)
  replied = replied + 4
  if asked == RECEIPTS or asked == LEASE or asked == HOLD then
    replies[replied + 1] = own.used
    replies[replied + 2] = own.since
    -- For a log, rest changes whenever old entries are removed, and is no use in a receipt.
    replies[replied + 3] = algorithm.has_entries and 0 or own.rest
    if own.gaps then
      replies[replied + 1], replies[replied + 2], replies[replied + 3] = refund_gaps().receipt(own)
    end
    -- For an algorithm of an application, the permits refunded before the charge.
    replies[replied + 4] = algorithm.own and own.leased or time
    replied = replied + 4
  end
  if asked == LEASE then
    replied = replied + 1
    replies[replied] = more
  end
end

-- Returns the number that tells why a bucket is of no use, and what is known of it: see foreign in storage.lua.
local function reason_of(foreign)
  if foreign == true then return -1, -1 end
  return type(foreign) == 'number' and -2 or -3, foreign
end

-- Replies to a call that it has charged nothing.
local function refuse(foreign, charges, asked)
  local first = replied + 1
  for _ = 1, charges * (asked == LEASE and 9 or (asked == RECEIPTS or asked == HOLD) and 8 or 4) do
    replied = replied + 1
    replies[replied] = -1
  end
  replies[first], replies[first + 1] = reason_of(foreign)
end

-- Decides a call of several charges, or one that cannot be decided because of one of its keys.
local function decide_together(charges, asked)
  local rejected = false
  for i = 1, charges do
    if bucket_at[i].foreign then return refuse(bucket_at[i].foreign, charges, asked) end
  end
  for i = 1, charges do
    local limit = limit_at[i]
    local bucket = bucket_at[i]
    if limit.binding and (wait_for(permits_at[i], bucket) > limit.ahead or blocked_for(bucket) > 0) then rejected = true end
  end
  for i = 1, charges do decide_charge(bucket_at[i], limit_at[i], permits_at[i], more_at[i], asked, rejected) end
end

-- Returns the permits of a lease and of how many more, or of a holder with its name; for other charges only the permits.
local function amounts_of(text, asked)
  if asked == LEASE then return match(text, '^(%d+)%+(%d+)$') end
  if asked == HOLD then
    local permits, holder, waits = match(text, '^(%d+)@?([%d:]*)(!?)$')
    return permits, 0, holder, waits == '!'
  end
  return 0, 0, text
end

-- Releases or renews permits. Returns false if the call has to be decided: it is to hold permits, or the value is a foreign one.
local function change_held(bucket, limit, asked, text, waits)
  local algorithm, own = bucket.rule.algorithm, bucket.own
  if asked == HOLD or bucket.foreign then
    bucket.holder, bucket.waits = text, waits
    -- A call that is sent again begins anew, because an error may have ended the run that took its permits.
    if algorithm.release and not bucket.foreign and own.used > 0 then algorithm.release(own, bucket, text) end
    return false
  end
  local changed, ended
  if asked == RELEASE then
    changed = algorithm.release(own, bucket, match(text, '^0@(.+)$'))
  else
    changed, ended = algorithm.renew(own, bucket, text)
  end
  decide_charge(bucket, limit, 0, 0, LOOK, false)
  replies[replied - 2] = changed
  if ended then
    replies[replied - 1] = #ended
    for i = 1, #ended do replies[replied + i] = ended[i] end
    replied = replied + #ended
  end
  return true
end

local function decide(KEYS, ARGV)
  local codes, keys, arguments, charges = ARGV[1], 0, 1, 0
  local bucket, limit, permits, more, asked, held, waits
  local code = byte(codes, 1)
  for i = 1, #codes do
    if code == OTHER_KEY or code == AS_BEFORE then
      asked, more = CHARGE, 0
    else
      if code ~= FURTHER then asked = code end
      limit, permits, more = limit_of(ARGV[arguments + 1]), ARGV[arguments + 2], 0
      if asked >= LEASE then permits, more, held, waits = amounts_of(permits, asked) end
      permits, more, arguments = permits + 0, more + 0, arguments + 2
    end
    if code ~= AS_BEFORE then keys = keys + 1 end
    bucket = bucket_of(KEYS[keys], limit.rule)
    code = byte(codes, i + 1)
    if asked >= HOLD and change_held(bucket, limit, asked, held, waits) then
      charges = 0
    elseif charges == 0 and code ~= FURTHER and not bucket.foreign then
      decide_charge(bucket, limit, permits, more, asked, false)
    else
      charges = charges + 1
      bucket_at[charges], limit_at[charges], permits_at[charges], more_at[charges] = bucket, limit, permits, more
      if code ~= FURTHER then
        decide_together(charges, asked)
        charges = 0
      end
    end
  end
  save_all()
end

local function run(KEYS, ARGV)
  replied = 0
  forget_buckets()
  forget_limits()
  begin()
  if byte(ARGV[1]) == SETTLE then
    for i = 1, #ARGV[1] do
      local foreign = change_bucket(KEYS[i], ARGV[2 * i], ARGV[2 * i + 1])
      if foreign then
        replies[replied + 1] = i - 1
        replies[replied + 2], replies[replied + 3] = reason_of(foreign)
        replied = replied + 3
      end
    end
  elseif byte(ARGV[1]) == CHANGE then
    local foreign, remaining, blocked, waits, reset = change_bucket(KEYS[1], ARGV[2], ARGV[3])
    if foreign then
      refuse(foreign, 1, CHANGE)
    else
      replies[1], replies[2], replies[3], replies[4] = remaining, blocked, waits, reset
      replied = 4
    end
  else
    local decided, failure = pcall(decide, KEYS, ARGV)
    if not decided then
      error(not saved and type(failure) == 'string' and 'RATELIMIT_UNCHARGED ' .. failure or failure, 0)
    end
  end
  for i = replied + 1, #replies do replies[i] = nil end
  return replies
end
