-- The algorithms, by the letters with which rules begin. algorithms.<letter> is a function that creates the algorithm when
-- a run first needs it: a table of functions on a state, which also get the state's bucket.
--   prepare(rule)                     optional: computes what depends on the rule alone
--   recover(state, bucket)            removes permits that have come back
--   used(state, bucket)               returns the permits in use, a part of one counting as one
--   time_until(state, bucket, most)   returns the microseconds until no more than that many are used
--   take(state, bucket, permits)      uses permits that are available
--   lease(state, bucket)              optional: records that permits are leased, if the order in which they come back matters
--   save(bucket, text, expiry)        only with has_entries: writes the bucket
--   has_pace     whether the rule is <capacity>@<permits>/<period> instead of <capacity>/<window>
--   has_entries  whether the key holds a list: the text of the states, then entries
--   define_rare()  adds what few runs need:
--     observe(state, bucket, permits)          the same as take, for a call that another rule has admitted
--     adopt(state, bucket, other)              takes over what another rule has counted
--     refund(state, bucket, permits, receipt)  undoes a charge, unless its permits have come back
--
-- takes: micros_of number
-- leaves: algorithms use complete parse_rule reset_after
local algorithms = {}

local created = {}

-- The same as take, for algorithms that never count more than the capacity.
local function use(state, _, permits)
  state.used = math.min(state.used + permits, state.rule.capacity)
end

local function algorithm_of(letter)
  local algorithm = created[letter]
  if not algorithm and algorithms[letter] then
    algorithm = algorithms[letter]()
    created[letter] = algorithm
  end
  return algorithm
end

-- Returns the algorithm with all of its functions.
local function complete(algorithm)
  if algorithm.define_rare then
    algorithm.define_rare()
    algorithm.define_rare = nil
  end
  return algorithm
end

-- The rules of this run, by their texts.
local rules = {}

-- Returns the rule with which the text begins, and the rest of the text; nil if it does not begin with a rule.
local function parse_rule(text)
  if rules[text] then return rules[text], '' end
  local letter, capacity, permits, amount, unit, rest = string.match(text, '^(%u)(%d+)@?(%d*)/(%d*)(%l+)(.*)$')
  local algorithm, micros = algorithm_of(letter), micros_of(unit)
  if not algorithm or not micros then return nil end
  local rule = {
    text = rest == '' and text or string.sub(text, 1, -1 - #rest),
    algorithm = algorithm,
    capacity = number(capacity, 1),
    permits = number(permits, 1),
    micros = amount == '' and micros or number(number(amount, 1) and amount * micros or 0, 1),
    whole = 0,
    part = 0,
  }
  if rules[rule.text] then return rules[rule.text], rest end
  if not rule.capacity or not rule.micros or not rule.permits ~= not algorithm.has_pace then return nil end
  if algorithm.prepare then algorithm.prepare(rule) end
  rules[rule.text] = rule
  return rule, rest
end

-- Returns the microseconds until nothing is used.
local function reset_after(state, bucket)
  local algorithm = state.rule.algorithm
  return algorithm.used(state, bucket) == 0 and 0 or algorithm.time_until(state, bucket, 0)
end
