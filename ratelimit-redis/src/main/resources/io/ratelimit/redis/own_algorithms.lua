-- The algorithms of an application, in the text of applications that have some. own_parts has the text of each part, see
-- RateLimitAlgorithm. A part is compiled when it is first needed, and its functions are called protected: a mistake is the failure
-- of the calls that need the part. Before such a call changes anything, its functions are tried.
--   reply    -3, and as text the name of the algorithm, ': ' and what is wrong, in place of the first two numbers of a call; the
--            others are -1
--
-- takes: begin clock format least greatest quotient number_used new_state algorithms own_algorithm own_parts bucket_of bucket_by_key
-- takes: decide_charge decide_together refuse change_bucket bucket_at permits_at
-- leaves:

local FAILED = 'RATELIMIT_ALGORITHM '

-- What a part does not see. The first line of its text hides it, so that lines keep their numbers.
local HIDDEN = 'local redis, KEYS, ARGV, _G, rawset, rawget, setmetatable, getmetatable, setfenv, getfenv, load, loadstring, '
  .. 'collectgarbage, gcinfo, newproxy, coroutine, xpcall, cjson, cmsgpack, struct, debug, os; '

local FUNCTIONS = {recover = true, time_until = true, used = true, take = true, refund = true, reset_after = true}

local REQUIRED = {'recover', 'time_until'}

local function fail(name, what, ...)
  error(FAILED .. name .. ': ' .. format(what, ...), 0)
end

-- Returns what is wrong with an algorithm, given what pcall returns; nil if nothing is. Any other error fails the run.
local function mistake_of(ran, thrown)
  if ran then return nil end
  if type(thrown) ~= 'string' or string.sub(thrown, 1, #FAILED) ~= FAILED then error(thrown, 0) end
  return string.sub(thrown, #FAILED + 1)
end

local function shown(value)
  return type(value) == 'number' and format('%.17g', value) or tostring(value)
end

local function read_only(table_of, message)
  return setmetatable({}, {__index = table_of, __newindex = function() error(message, 2) end})
end

-- The globals of all parts. Made when the first part is compiled.
local globals_of_parts

-- Keeps a part from changing globals and libraries: Redis before 6.2.7 would keep such a change for all scripts.
local function protect_globals(chunk)
  if not globals_of_parts then
    local seen = {}
    for name, library in pairs({math = math, string = string, table = table, bit = bit}) do
      seen[name] = read_only(library, name .. ' must not be changed')
    end
    globals_of_parts = read_only(setmetatable(seen, {__index = getfenv(chunk)}), 'a global must not be created or changed')
  end
  setfenv(chunk, globals_of_parts)
end

-- Returns the functions of the part.
local function compile(name)
  local source = own_parts[name]
  local chunk, mistake = loadstring(HIDDEN .. source, '=' .. name)
  if not chunk then fail(name, '%s', tostring(mistake)) end
  -- Redis without setfenv protects them itself.
  pcall(protect_globals, chunk)
  local ran, functions = pcall(chunk)
  if not ran then fail(name, '%s', tostring(functions)) end
  if type(functions) ~= 'table' then fail(name, 'the part must return a table of functions (was %s)', type(functions)) end
  for key, value in pairs(functions) do
    if not FUNCTIONS[key] then fail(name, 'the part must not define %s, which is no function of an algorithm', tostring(key)) end
    if type(value) ~= 'function' then fail(name, '%s must be a function (was %s)', key, type(value)) end
  end
  for _, key in ipairs(REQUIRED) do
    if not functions[key] then fail(name, 'the part must define %s', key) end
  end
  return functions
end

local function is_whole(value, least_value)
  return type(value) == 'number' and value >= least_value and value < 2 ^ 53 and value % 1 == 0
end

local unknown_algorithm = own_algorithm

-- Returns the algorithm: functions on a state, see algorithms.lua.
function own_algorithm(name)
  if not own_parts[name] then return unknown_algorithm(name) end
  local own, part = {has_pace = true, own = name}, nil

  local function functions()
    part = part or compile(name)
    return part
  end

  local function most_used(rule)
    return quotient(2 ^ 52, rule.micros)
  end

  -- Returns what a function returns for a state and its rule, which it cannot change.
  local function call(key, run, state, now, more)
    local rule = state.rule
    rule.seen = rule.seen
      or read_only({capacity = rule.capacity, permits = rule.permits, micros = rule.micros}, 'the rule must not be changed')
    local ran, a, b, c = pcall(run, rule.seen, state.used, state.since, state.rest, now, more)
    if not ran then fail(name, '%s: %s', key, tostring(a)) end
    return a, b, c
  end

  local function number_of(key, least_number, state, now, more)
    local number = call(key, functions()[key], state, now, more)
    if not is_whole(number, least_number) then
      fail(name, '%s: must return a whole number from %d, below 2^53 (was %s)', key, least_number, shown(number))
    end
    return number
  end

  -- Changes the state to what a function returns.
  local function change_state(key, run, state, now, more)
    local used, since, rest = call(key, run, state, now, more)
    if not (is_whole(used, 0) and is_whole(since, 0) and is_whole(rest, 0)) then
      fail(name, '%s: must return three whole numbers from 0, below 2^53 (was %s, %s, %s)', key, shown(used), shown(since), shown(rest))
    end
    if used > most_used(state.rule) then
      fail(name, '%s: must return used of at most %.0f (was %.0f)', key, most_used(state.rule), used)
    end
    if since > now then fail(name, '%s: must return since not later than now %.0f (was %.0f)', key, now, since) end
    state.used, state.since, state.rest = used, since, rest
  end

  local function forget_unused(state, now)
    if state.used == 0 then state.since, state.rest, state.leased = now, 0, 0 end
  end

  local function use(_, used, since, rest, _, permits)
    return used + permits, since, rest
  end

  local function subtract(_, used, since, rest, _, permits)
    return used - permits, since, rest
  end

  local function recover(state, now)
    local before = state.used
    if before > 0 then
      change_state('recover', functions().recover, state, now)
      if state.used > before then fail(name, 'recover: must not return more used than before, %.0f (was %.0f)', before, state.used) end
    end
    forget_unused(state, now)
  end

  local function used_by(state, now)
    if state.used == 0 then return 0 end
    return functions().used and number_of('used', 0, state, now) or state.used
  end

  local function take(state, now, permits)
    if permits == 0 then return end
    change_state('take', functions().take or use, state, now, permits)
    if state.used == 0 then fail(name, 'take: must return used of at least 1 (was 0)') end
  end

  local function refund(state, now, permits)
    permits = least(permits, state.used)
    if permits <= 0 then return end
    change_state('refund', functions().refund or subtract, state, now, permits)
    state.leased = state.leased + permits
    forget_unused(state, now)
  end

  -- Returns the function for a bucket: one that has counted by this algorithm before and counts by another now stays usable.
  --   otherwise  what is returned if the function fails; nil: the permits in use
  local function protected(run, otherwise)
    return function(state, bucket, number)
      if state == bucket.own then return run(state, bucket.now, number) end
      local ran, result = pcall(run, state, bucket.now, number)
      if ran then return result end
      return otherwise or state.used
    end
  end

  own.recover, own.used, own.grant = protected(recover), protected(used_by), protected(refund)

  own.time_until = protected(function(state, now, most) return number_of('time_until', 1, state, now, most) end, 0)

  own.reset_after = protected(function(state, now)
    if state.used == 0 then return 0 end
    if not functions().reset_after then return number_of('time_until', 1, state, now, 0) end
    return number_of('reset_after', 1, state, now)
  end, 0)

  own.force = protected(function(state, now, permits)
    take(state, now, greatest(0, least(permits, most_used(state.rule) - state.used)))
  end)

  function own.take(state, bucket, permits)
    take(state, bucket.now, permits)
  end

  -- Fails as a decision about that many permits would, and changes nothing.
  function own.try(state, bucket, permits)
    local now, scratch = bucket.now, {rule = state.rule, used = state.used, since = state.since, rest = state.rest, leased = 0}
    local trial = {own = scratch, now = now}
    local used = used_by(scratch, now)
    if used > 0 then own.time_until(scratch, trial, 0) end
    own.reset_after(scratch, trial)
    if permits > state.rule.capacity then return end
    if used + permits > state.rule.capacity then
      own.time_until(scratch, trial, state.rule.capacity - permits)
    elseif permits > 0 then
      take(scratch, now, permits)
      if used_by(scratch, now) > 0 then own.time_until(scratch, trial, 0) end
      own.reset_after(scratch, trial)
    end
  end

  own.observe = protected(function(state, now, permits)
    local left = state.rule.capacity - used_by(state, now)
    if permits <= left then return take(state, now, permits) end
    local full, refunded = new_state(state.rule, now), state.leased + state.used
    if left >= 0 then
      take(full, now, state.rule.capacity)
      state.used, state.since, state.rest = full.used, full.since, full.rest
    end
    -- All charges before count as refunded.
    state.leased = refunded
  end)

  function own.adopt(state, bucket, _, used)
    take(state, bucket.now, used)
  end

  function own.refund(state, bucket, permits, receipt)
    local charged = {rule = state.rule, used = receipt.used, since = receipt.since, rest = receipt.rest, leased = 0}
    recover(charged, bucket.now)
    refund(state, bucket.now, least(permits, charged.used - greatest(0, state.leased - receipt.time)))
  end

  return own
end

local found, decide_one, decide_all, change = bucket_of, decide_charge, decide_together, change_bucket

function bucket_of(key, rule)
  if not rule.algorithm.own then return found(key, rule) end
  local mistake, bucket = mistake_of(pcall(found, key, rule)), bucket_by_key[key]
  if mistake then bucket.foreign, bucket.unwritten = mistake, false end
  return bucket
end

-- Whether the functions have been tried.
local tried = false

-- Returns what is wrong with the bucket's algorithm; nil if it can decide.
local function failure_of(bucket, permits)
  if type(bucket.foreign) == 'string' then return bucket.foreign end
  local algorithm = bucket.rule.algorithm
  if bucket.foreign or not algorithm.own then return nil end
  return mistake_of(pcall(algorithm.try, bucket.own, bucket, permits))
end

function decide_charge(bucket, limit, wanted, more, asked, rejected)
  local failure = bucket.rule.algorithm.own and not tried and failure_of(bucket, wanted)
  if failure then return refuse(failure, 1, asked) end
  decide_one(bucket, limit, wanted, more, asked, rejected)
end

function decide_together(charges, asked)
  for i = 1, charges do
    local failure = failure_of(bucket_at[i], permits_at[i])
    if failure then return refuse(failure, charges, asked) end
  end
  tried = true
  local ran, failure = pcall(decide_all, charges, asked)
  tried = false
  if not ran then error(failure, 0) end
end

-- A run can settle the charges of several calls, and the others must be settled.
function change_bucket(key, limit, text)
  local ran, foreign, remaining, blocked, waits, reset = pcall(change, key, limit, text)
  if ran then return foreign, remaining, blocked, waits, reset end
  local mistake, bucket = mistake_of(false, foreign), bucket_by_key[key]
  -- The next one of the bucket reads it again.
  if bucket then bucket.written = true end
  return mistake
end
