-- How most calls are decided: charges of one token bucket each, which is as if never used or has the section of this very
-- rule alone. All calls of a run before the first that is different are decided here. No table of kinds or buckets is made
-- for them, nor any of the functions below; that is most of the time that a run takes. The arithmetic is the same.

local KEYS, ARGV = KEYS, ARGV

-- The rules that this run has met, by their texts.
local rules = {}

-- The sections that calls were decided by, by their keys. They are read once, and written once all is decided.
local sections = {}

-- For each charge what decide.lua says. There is room for the first, because a table that grows is made anew.
local replies, said = {0, 0, 0, 0}, 0

-- All calls of a run are decided at the same time.
local present = {now = clock}

-- Returns nil if it is none of a token bucket, or has options.
local function plain_rule(text)
  local capacity, permits, amount, unit = string.match(text, '^T(%d+)@(%d+)/(%d*)(%l+)$')
  if not capacity then return nil end
  local rule = {
    text = text,
    capacity = tonumber(capacity),
    permits = tonumber(permits),
    micros = micros_of(unit) * (amount == '' and 1 or amount),
    rest = 0,
    whole = 0,
  }
  prepare_tokens(rule)
  rules[text] = rule
  return rule
end

-- Returns nil if there is more to the bucket.
local function plain_section(key, rule)
  local text = redis.pcall('GET', key)
  local section
  if text then
    section = only_section(rule, text)
    if not section then return nil end
    recover_tokens(section, present)
  else
    section = {rule = rule, used = 0, since = clock, rest = 0, charged = false}
  end
  sections[key] = section
  return section
end

-- How many calls are plain charges, of which the last may have further ones; and how many were decided.
local _, plain = string.find(ARGV[1], '^1*')
if string.sub(ARGV[1], plain + 1, plain + 1) == '+' then plain = plain - 1 end
local decided = 0

for i = 1, plain do
  local key, text, wanted = KEYS[i], ARGV[2 * i], tonumber(ARGV[2 * i + 1])
  local rule = rules[text] or plain_rule(text)
  local section = rule and (sections[key] or plain_section(key, rule))
  if not section or section.rule ~= rule then break end
  local used, retry = section.used, 0
  if wanted > 0 then
    if used + wanted <= rule.capacity then
      used = used + wanted
      section.used, section.charged = used, true
    else
      retry = wanted > rule.capacity and -1 or time_until_tokens(section, present, rule.capacity - wanted)
    end
  end
  replies[said + 1] = used < rule.capacity and rule.capacity - used or 0
  replies[said + 2] = 0
  replies[said + 3] = retry
  replies[said + 4] = used == 0 and 0 or time_until_tokens(section, present, 0)
  said, decided = said + 4, i
end

if decided == #KEYS then
  for key, section in pairs(sections) do
    if section.charged then
      redis.call('SET', key, text_of(section), 'PX', quotient(time_until_tokens(section, present, 0) + 999, 1000))
    end
  end
  return replies
end
