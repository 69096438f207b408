-- A bucket has a section for each rule in use, three at the most, the last used first. A section says what is used by
-- its rule. The value at the bucket's key is their text:
--   T20@1/100ms:2:1795251352713710             rule:used:since
--   T10@3/7s:1:1795251352713710:2 S20/1m:3:1795251300000000:9     rule:used:since:rest, two rules
--   T20@1/100ms:5:1795251352713710!1795251353213710  permits are leased: rule:used:since!leased
--   T20@1/100ms:2:1795251352713710 +3600000000:1795251352713710:0     with a lag: +offset:seen:promise
--   rule    letter of the kind, capacity, and @permits/period of the pace or /length of the window
--   used    permits that have been taken and are not back
--   since   microseconds of the epoch; what it is the time of depends on the kind, but never later than the last charge
--   rest    what else the kind remembers, left out if 0
--   leased  where permits come back in the order in which they were taken: until when any that were ever leased were to
--           be back, of whatever instance; later for each lease, left out if there was none
--   lag     while the clock is behind what it once showed: what is added to it, the bucket's own time when last looked
--           at, and the time for which a caller was told that the call could succeed then, or 0
-- A log's entries stand in a list behind that text.
--
-- Functions that few runs need are made when one does: they stand within a function that makes them.

-- What kinds have in common that count used permits one by one.
local function number_used(section)
  return section.used
end

-- The number, or nil if it is none that can be carried.
local function number(text, least)
  local n = tonumber(text)
  return n and n >= least and n < 2 ^ 53 and n or nil
end

-- What follows a section's rule, from a place in the text. Returns nil if it is no section.
local function parse_section(rule, text, from)
  local used, since, rest, leased = string.match(text, '^:(%d+):(%d+):?(%d*)!?(%d*)$', from)
  if not used then return nil end
  used, since, rest = number(used, 0), number(since, 0), rest == '' and 0 or number(rest, 0)
  leased = leased == '' and 0 or number(leased, 0)
  return used and since and rest and leased and {rule = rule, used = used, since = since, rest = rest, leased = leased}
end

local function text_of(section)
  local text = string.format('%s:%.0f:%.0f', section.rule.text, section.used, section.since)
  if section.rest ~= 0 then text = string.format('%s:%.0f', text, section.rest) end
  return section.leased == 0 and text or string.format('%s!%.0f', text, section.leased)
end

-- Most buckets have a section of this very rule alone, whose time the clock has reached. Returns nil if there is more to the
-- value.
local function only_section(rule, text)
  local length = #rule.text
  local section = type(text) == 'string' and string.sub(text, 1, length) == rule.text
    and parse_section(rule, text, length + 1)
  return section and section.since <= clock and section or nil
end
