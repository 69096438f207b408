-- The kinds, by their letters; each a function that makes it. A kind is a table of functions on a section, which the
-- bucket's time and entries help:
--   recover(section, bucket)           takes out what is back
--   used(section, bucket)              permits in use, a part of one counting as one
--   time_until(section, bucket, most)  microseconds until no more than so many are used
--   take(section, bucket, permits)     uses permits that are there
--   lease(section, bucket)             marks that the last permits are leased, where it matters which are back first
-- and of these, which its function rarely makes:
--   witness(section, bucket, permits)  the same for a call that another rule has admitted
--   adopt(section, bucket, other)      counts what the section of another rule does
--   give_back(section, bucket, permits, receipt)  undoes a charge, as far as it is not back by itself
local kinds = {}

local made = {}

-- Set by a kind that has entries. Writes a bucket with such a section; returns false if it has none.
local save_entries

-- The same, of kinds that never count more than the capacity.
local function use(section, _, permits)
  section.used = math.min(section.used + permits, section.rule.capacity)
end

local function kind_of(letter)
  local kind = made[letter]
  if not kind and kinds[letter] then
    kind = kinds[letter]()
    made[letter] = kind
  end
  return kind
end

-- The kind with all of its functions.
local function complete(kind)
  if kind.rarely then
    kind.rarely()
    kind.rarely = nil
  end
  return kind
end

-- The rules that this run has met, by their texts.
local rules = {}

-- Returns nil if the text does not begin with a rule; else the rule, and what follows.
local function parse_rule(text)
  if rules[text] then return rules[text], '' end
  local letter, capacity, permits, amount, unit, rest = string.match(text, '^(%u)(%d+)@?(%d*)/(%d*)(%l+)(.*)$')
  local kind, micros = kind_of(letter), micros_of(unit)
  if not kind or not micros then return nil end
  local rule = {
    text = rest == '' and text or string.sub(text, 1, -1 - #rest),
    kind = kind,
    capacity = number(capacity, 1),
    permits = number(permits, 1),
    micros = amount == '' and micros or number(number(amount, 1) and amount * micros or 0, 1),
    whole = 0,
    part = 0,
  }
  if rules[rule.text] then return rules[rule.text], rest end
  if not rule.capacity or not rule.micros or not rule.permits ~= not kind.has_pace then return nil end
  if kind.prepare then kind.prepare(rule) end
  rules[rule.text] = rule
  return rule, rest
end

-- Microseconds until a section is as if never used.
local function reset_after(section, bucket)
  local kind = section.rule.kind
  return kind.used(section, bucket) == 0 and 0 or kind.time_until(section, bucket, 0)
end
