-- A bucket has a section for each rule in use, three at the most, the last used first. A section says what is used by
-- its rule. The value at the bucket's key is their text:
--   T20@1/100ms:2:1795251352713710             rule:used:since
--   T10@3/7s:1:1795251352713710:2 S20/1m:3:1795251300000000:9     rule:used:since:rest, two rules
--   T20@1/100ms:2:1795251352713710 +3600000000:1795251352713710:0     with a lag: +offset:seen:promise
--   rule    letter of the kind, capacity, and @permits/period of the pace or /length of the window
--   used    permits that have been taken and are not back
--   since   microseconds of the epoch; what it is the time of depends on the kind, but never later than the last charge
--   rest    what else the kind remembers, left out if 0
--   lag     while the clock is behind what it once showed: what is added to it, the bucket's own time when last looked
--           at, and the time for which a caller was told that the call could succeed then, or 0
-- A log's entries stand in a list behind that text. Every number is an integer below 2^53, so Lua's doubles carry it.

-- The kinds, by their letters; each a function that makes it, because Redis runs this text anew for every decision. A
-- kind is a table of functions on a section, which the bucket's time and entries help:
--   recover(section, bucket)           takes out what is back
--   used(section, bucket)              permits in use, a part of one counting as one
--   time_until(section, bucket, most)  microseconds until no more than so many are used
--   take(section, bucket, permits)     uses permits that are there
--   witness(section, bucket, permits)  the same for a call that another rule has admitted
--   adopt(section, bucket, other)      counts what the section of another rule does
--   give_back(section, bucket, permits, receipt)  undoes a charge, as far as it is not back by itself
local kinds = {}

local made = {}

-- Set by a kind that has entries. Writes a bucket with such a section; returns false if it has none.
local save_entries

local SECTIONS = 3

local UNITS = {us = 1, ms = 1000, s = 1000000, m = 60000000, h = 3600000000, d = 86400000000}

local function integer(n)
  return string.format('%.0f', n)
end

-- Exact below 2^53, where math.floor(a / b) is not beyond doubt.
local function quotient(a, b)
  return (a - a % b) / b
end

-- What kinds have in common that count used permits one by one, and never more than the capacity.
local function number_used(section)
  return section.used
end

local function use(section, _, permits)
  section.used = math.min(section.used + permits, section.rule.capacity)
end

local function kind_of(letter)
  if not made[letter] and kinds[letter] then made[letter] = kinds[letter]() end
  return made[letter]
end

-- The number, or nil if it is none that can be carried.
local function whole(text)
  local n = tonumber(text or '')
  return n and n < 2 ^ 53 and n or nil
end

local function positive(text)
  local n = whole(text)
  return n ~= 0 and n or nil
end

-- The rules that this run has met, by their texts.
local rules = {}

-- Returns nil if the text is no rule.
local function parse_rule(text)
  if rules[text] then return rules[text] end
  local letter, capacity, permits, amount, unit = string.match(text, '^(%u)(%d+)@?(%d*)/(%d*)(%l+)$')
  local kind, micros = kind_of(letter), UNITS[unit]
  if not kind or not micros then return nil end
  local rule = {
    text = text,
    kind = kind,
    capacity = positive(capacity),
    permits = positive(permits),
    micros = amount == '' and micros or positive(positive(amount) and amount * micros),
  }
  if not rule.capacity or not rule.micros or not rule.permits ~= not kind.has_pace then return nil end
  if kind.prepare then kind.prepare(rule) end
  rules[text] = rule
  return rule
end

-- Returns nil if the text is no section.
local function parse_section(text)
  local rule, used, since, rest = string.match(text, '^(%u%d+@?%d*/%d*%l+):(%d+):(%d+):?(%d*)$')
  used, since, rest = whole(used), whole(since), whole(rest == '' and '0' or rest)
  if not used or not since or not rest then return nil end
  rule = parse_rule(rule)
  return rule and {rule = rule, used = used, since = since, rest = rest}
end

-- Returns false if the value is of another type.
local function read_as(command, ...)
  local reply = redis.pcall(command, ...)
  if type(reply) ~= 'table' then return true, reply end
  -- Other trouble is not the value's, and fails the run.
  if not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(command, ...) end
  return false
end

local function read_text(key)
  local ours, text = read_as('GET', key)
  return ours, text
end

local function read_head(key)
  local ours, text = read_as('LINDEX', key, 0)
  return ours, text, text and true
end

-- Returns false if the value is none of ours; else true, the text of the sections, and whether a list of entries follows.
local function read(key, rule)
  local first, second = read_text, read_head
  if rule.kind.has_entries then first, second = second, first end
  local ours, text, listed = first(key)
  if not ours then ours, text, listed = second(key) end
  return ours, text, listed
end

-- Returns nil if the text is no lag.
local function parse_lag(text)
  local offset, seen, promise = string.match(text, '^%+(%d+):(%d+):(%d+)$')
  offset, seen, promise = whole(offset), whole(seen), whole(promise)
  return offset and seen and promise and {offset = offset, seen = seen, promise = promise}
end

-- Fills the bucket from its text. Returns false if the text is none of ours.
local function parse(bucket, text)
  for part in string.gmatch(text, '%S+') do
    local section = not bucket.lag and parse_section(part)
    if section and #bucket.sections < SECTIONS then
      bucket.sections[#bucket.sections + 1] = section
    else
      bucket.lag = not bucket.lag and parse_lag(part)
      if not bucket.lag then return false end
    end
  end
  return #bucket.sections > 0
end

-- A bucket's own time never goes back: while the clock shows less than the bucket has seen, the bucket goes on from
-- there, at the clock's speed. So what was given back is not given back again, and nobody waits for the clock. Once the
-- clock shows more, it is taken to be right again, because then nothing is given back for the time that it was wrong.
-- Only who was told to wait for longer than it is behind, and has, is right to think that it went on as it was.
local function tell_time(bucket, clock)
  local lag, seen = bucket.lag, 0
  for _, section in ipairs(bucket.sections) do seen = math.max(seen, section.since) end
  if lag then
    bucket.changed = true
    seen = math.max(seen, lag.seen)
  end
  if clock < seen then
    lag = lag or {offset = 0, promise = 0}
    lag.offset = math.max(lag.offset, seen - clock)
  elseif lag and (lag.promise == 0 or clock + lag.offset < lag.promise) then
    lag = nil
  end
  bucket.lag, bucket.now = lag, clock
  if lag then
    bucket.changed, bucket.now = true, clock + lag.offset
    lag.seen = bucket.now
    if lag.promise <= bucket.now + lag.offset then lag.promise = 0 end
  end
end

-- Remembers for when a caller was told to come again.
local function promise(bucket, retry)
  local lag = bucket.lag
  if lag and retry > lag.offset then
    local time = bucket.now + retry
    lag.promise = lag.promise == 0 and time or math.min(lag.promise, time)
  end
end

-- The section that a new rule adopts: the last used; of a log, another log if there is one, because they share entries.
local function adopted_by(rule, sections)
  for i = 2, rule.kind.has_entries and #sections or 0 do
    if sections[i].rule.kind.has_entries then return sections[i] end
  end
  return sections[2]
end

-- Puts the rule's section first. A rule that is new adopts what the rule before it has counted. That is a change, to be
-- written down: adopted again at each call, what is used would never come back.
local function choose(bucket, rule)
  local own = {rule = rule, used = 0, since = bucket.now, rest = 0}
  local sections, known = {own}, false
  for _, section in ipairs(bucket.sections) do
    if section.rule == rule then
      sections[1], known = section, true
    elseif #sections < SECTIONS then
      sections[#sections + 1] = section
    end
  end
  local before = not known and adopted_by(rule, sections)
  if before then
    before.rule.kind.recover(before, bucket)
    rule.kind.adopt(own, bucket, before)
    bucket.changed = true
  end
  rule.kind.recover(sections[1], bucket)
  bucket.sections, bucket.rule_is_new = sections, not known
end

-- Returns false if the value at the key is none of ours.
local function load(key, clock, rule)
  local ours, text, listed = read(key, rule)
  if not ours then return false end
  local bucket = {key = key, rule = rule, sections = {}, new_entries = {}}
  bucket.listed, bucket.is_string = listed, text and not listed
  if text and not parse(bucket, text) then return false end
  bucket.length = listed and redis.call('LLEN', key) - 1 or 0
  tell_time(bucket, clock)
  choose(bucket, rule)
  return bucket
end

-- The first section is, since it was chosen.
local function recover_others(bucket)
  for i = 2, #bucket.sections do
    local section = bucket.sections[i]
    section.rule.kind.recover(section, bucket)
  end
end

-- Charges a call that the first section's rule has admitted. All recover before, because logs share the call's entry.
local function charge(bucket, permits)
  recover_others(bucket)
  bucket.appended = false
  for i, section in ipairs(bucket.sections) do
    section.rule.kind[i == 1 and 'take' or 'witness'](section, bucket, permits)
  end
  bucket.changed = true
end

local function text_of(bucket)
  local parts = {}
  for i, section in ipairs(bucket.sections) do
    parts[i] = section.rule.text .. ':' .. integer(section.used) .. ':' .. integer(section.since)
    if section.rest > 0 then parts[i] = parts[i] .. ':' .. integer(section.rest) end
  end
  local lag = bucket.lag
  if lag then
    parts[#parts + 1] = '+' .. integer(lag.offset) .. ':' .. integer(lag.seen) .. ':' .. integer(lag.promise)
  end
  return table.concat(parts, ' ')
end

-- Microseconds until a section is as if never used.
local function reset_after(section, bucket)
  local kind = section.rule.kind
  return kind.used(section, bucket) == 0 and 0 or kind.time_until(section, bucket, 0)
end

local function save(bucket)
  local reset = 0
  recover_others(bucket)
  for _, section in ipairs(bucket.sections) do reset = math.max(reset, reset_after(section, bucket)) end
  -- The lag keeps the memory of the time once shown until the clock is there again.
  if bucket.lag then reset = reset + bucket.lag.offset end
  local expiry = integer(quotient(reset + 999, 1000))
  if expiry == '0' then
    redis.call('DEL', bucket.key)
  elseif not (save_entries and save_entries(bucket, text_of, expiry)) then
    redis.call('SET', bucket.key, text_of(bucket), 'PX', expiry)
  end
end
