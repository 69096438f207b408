-- The algorithms, by the letters with which rules begin. algorithms.<letter> is a function that creates the algorithm when
-- a run first needs it: a table of functions on a state, which also get the state's bucket.
--   prepare(rule)                     optional: computes what depends on the rule alone, see recover_batches
--   recover(state, bucket)            removes permits that have come back; also asked of an unused state: used 0, since now
--   used(state, bucket)               returns the permits in use, a part of one counting as one
--   time_until(state, bucket, most)   returns the microseconds until no more than that many are used
--   reset_after(state, bucket)        optional: returns the microseconds until nothing is used, instead of time_until
--   take(state, bucket, permits)      uses permits that are available, each once
--   lease(state, bucket)              optional: records that permits are leased, if the order in which they come back matters
--   micros_of, between                optional: calendar units instead of micros_of, see calendar_window.lua
--   refused, release, renew, reset    optional: if calls hold permits, see concurrency.lua
--   has_pace             whether the rule is <capacity>@<permits>/<period> instead of <capacity>/<window>
--   expires_with_window  whether the time at which nothing is used depends on since alone, as long as permits are used
--   has_entries          whether the key holds a list: the text of the states, then entries
--   read(bucket)         with entries: returns the text; nil if there is none; no string if the key holds no list
--   write(bucket, text, expiry)       with entries: writes the bucket
--   define_rare()  adds what few runs need:
--     observe(state, bucket, permits)          uses permits of a call that another rule has admitted, up to the capacity
--     adopt(state, bucket, other, used)        takes over what another rule has counted, up to the capacity: so many
--     refund(state, bucket, permits, receipt)  undoes a charge of receipt.permits or a part of it, unless its permits have come back
--     out_before(receipt, state, rule)         instead of refund: returns how many permits of the state belong to the receipt or
--                                              were taken before it, if permits come back in the order in which they were taken
--     most(rule)                               optional: returns the most permits in use, debt included, with which all is exact
--     force(state, bucket, permits)            instead of most: uses permits, available or not
--     grant(state, bucket, permits)            optional: returns the permits that were taken last, see change.lua
--
-- X is the letter of an algorithm of an application: X<name>_20@1/100ms, see own_algorithms.lua.
--
-- takes: match sub number_used micros_of least number quotient permits_in time_of refund_gaps
-- leaves: algorithms use use_up_to_capacity observe batches recover_batches time_until_batches complete parse_rule limit_of
-- leaves: forget_limits reset_after
local algorithms = {}

local created = {}

-- The same as take, for algorithms that never count more than the capacity.
local function use(state, _, permits)
  state.used = least(state.used + permits, state.rule.capacity)
end

-- Uses permits of a call that another rule has admitted, where permits come back after some time each. With a call for more than
-- is left, all of the capacity is in use from now on. If the time that has passed towards the next permit counted, too, each rule
-- would go on admitting at its own rate, and together they would exceed the highest. Leaves a debt as it is.
local function observe(state, bucket, permits)
  if permits <= state.rule.capacity - state.used then
    state.used = state.used + permits
  elseif state.used <= state.rule.capacity then
    state.used, state.since, state.rest = state.rule.capacity, bucket.now, 0
  end
end

-- The same as observe, for these algorithms: leaves a debt as it is.
local function use_up_to_capacity(state, bucket, permits)
  if state.used < state.rule.capacity then use(state, bucket, permits) end
end

-- Returns how many batches so many permits take.
local function batches(permits, rule)
  return quotient(permits + rule.batch - 1, rule.batch)
end

-- Removes permits that come back in batches, one after the other: rule.batch of them when the time for a batch has passed since
-- state.since, rule.whole microseconds and rule.part / rule.parts of one. state.rest is the fraction after since, in such parts.
local function recover_batches(state, bucket)
  local rule, elapsed = state.rule, bucket.now - state.since
  if elapsed < rule.whole and state.used > 0 then return end
  local used = batches(state.used, rule)
  local back = permits_in(elapsed, state.rest, used, rule.whole, rule.part, rule.parts)
  if state.gaps then refund_gaps().recover(state, bucket, least(back * rule.batch, state.used)) end
  if back == used then
    state.used, state.since, state.rest, state.leased = 0, bucket.now, 0, 0
    return
  end
  local rest = back * rule.part + state.rest
  state.used = state.used - back * rule.batch
  state.since = state.since + back * rule.whole + quotient(rest, rule.parts)
  state.rest = rest % rule.parts
end

local function time_until_batches(state, bucket, most)
  local rule = state.rule
  return state.since + time_of(batches(state.used - most, rule), state.rest, rule.whole, rule.part, rule.parts) - bucket.now
end

-- Returns an algorithm of an application without its part: what it has counted stays, and another algorithm can adopt it.
local function own_algorithm(name)
  local function unchanged() end
  return {
    has_pace = true, unknown = name, used = number_used,
    recover = unchanged, observe = use_up_to_capacity, force = unchanged, grant = unchanged,
    time_until = function() return 0 end,
  }
end

local function algorithm_of(head)
  if not created[head] then
    created[head] = algorithms[head] and algorithms[head]() or #head > 1 and own_algorithm(sub(head, 2, -2)) or nil
  end
  return created[head]
end

-- Adds the functions that few runs need.
local function complete(algorithm)
  if algorithm.define_rare then
    algorithm.define_rare()
    algorithm.define_rare = nil
  end
  return algorithm
end

-- Rules and limits by their texts, so that each is parsed once. An application has few; those of past versions are forgotten.
local rules, limits, known, KNOWN_AT_MOST = {}, {}, 0, 1000

-- Not during a run, in which there is one rule for each text.
local function forget_limits()
  if known > KNOWN_AT_MOST then rules, limits, known = {}, {}, 0 end
end

-- Returns the rule with which the text begins, and the rest of the text; nil if it does not begin with a rule.
local function parse_rule(text)
  if rules[text] then return rules[text], '' end
  local head = match(text, '^X%w+_') or sub(text, 1, 1)
  local capacity, permits, amount, unit, rest = match(text, '^(%d+)@?(%d*)/(%d*)(%l+)(.*)$', #head + 1)
  local algorithm = capacity and algorithm_of(head)
  local micros = algorithm and (algorithm.micros_of or micros_of)(unit)
  if not micros then return nil end
  local rule = {
    text = rest == '' and text or sub(text, 1, -1 - #rest),
    algorithm = algorithm,
    capacity = number(capacity, 1),
    permits = number(permits, 1),
    micros = amount == '' and micros or number(number(amount, 1) and amount * micros or 0, 1),
    batch = 1,
    whole = 0,
    part = 0,
    parts = 1,
  }
  if rules[rule.text] then return rules[rule.text], rest end
  if not rule.capacity or not rule.micros or not rule.permits ~= not algorithm.has_pace then return nil end
  if algorithm.prepare then algorithm.prepare(rule) end
  rules[rule.text], known = rule, known + 1
  return rule, rest
end

local function parse_limit(text)
  local rule, options = parse_rule(text)
  if rule.algorithm.unknown then error('RATELIMIT_ALGORITHM ' .. rule.algorithm.unknown .. ': there is no part for ' .. text, 0) end
  local limit = {rule = rule, ahead = 0, spaced = false, binding = true, blocks = nil}
  if options ~= '' then
    local ahead, spaced, dry_run, blocks, starts = match(options, '^>?(%d*)(~?)(%??)#?([%d,]*)|?([%d,]*)$')
    limit.ahead, limit.spaced, limit.binding = tonumber(ahead) or 0, spaced ~= '', dry_run == ''
    if blocks ~= '' then
      limit.blocks = {}
      for micros in string.gmatch(blocks, '%d+') do limit.blocks[#limit.blocks + 1] = micros + 0 end
    end
    if starts ~= '' then limit.rule = rule.algorithm.between(rule, starts) end
  end
  limits[text], known = limit, known + 1
  return limit
end

local function limit_of(text)
  return limits[text] or parse_limit(text)
end

-- Returns the microseconds until nothing is used.
local function reset_after(state, bucket)
  local algorithm = state.rule.algorithm
  if algorithm.reset_after then return algorithm.reset_after(state, bucket) end
  return algorithm.used(state, bucket) == 0 and 0 or algorithm.time_until(state, bucket, 0)
end
