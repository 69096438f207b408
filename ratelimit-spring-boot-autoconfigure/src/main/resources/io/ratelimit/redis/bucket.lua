-- A bucket has a state for each rule in use, three at most, the last used first: what is used by that rule. The value at the
-- bucket's key is their text:
--   T20@1/100ms:2:1795251352713710             rule:used:since
--   T10@3/7s:1:1795251352713710:2 S20/1m:3:1795251300000000:9     rule:used:since:rest, two rules
--   T20@1/100ms:5:1795251352713710!1795251353213710  permits are leased: rule:used:since!leased
--   T20@1/100ms:2:1795251352713710*3:1795251352713710:0:1    after a refund: rule:used:since*gaps, see refund_gaps.lua
--   T20@1/100ms:2:1795251352713710 +3600000000:1795251352713710:0     with a clock skew: +offset:seen:promise
--   rule    letter of the algorithm, capacity, and @permits/period of the pace or /length of the window
--   used    permits that have been taken and have not come back
--   since   microseconds of the epoch; what happened then depends on the algorithm, but it is never later than the last charge
--   rest    what else the algorithm remembers, omitted if 0
--   leased  if permits come back in the order in which they were taken: when the last permit that any instance has ever
--           leased was to come back; later with each lease, omitted if there was none
--   gaps    if permits come back in the order in which they were taken, and a refund has changed when; omitted in most
--   skew    while the clock is behind what it showed before: what is added to it, the bucket's own time when it was last
--           read, and the time for which a caller was told that the call could succeed then, or 0
-- A log's value is a list: that text, then its entries.
--
-- takes: clock refund_gaps
-- leaves: number_used number parse_state text_of only_state

-- Returns the permits in use, for algorithms that count them one by one.
local function number_used(state)
  return state.used
end

-- Returns the number; nil if the text is none, or it is not exact.
local function number(text, least)
  local n = tonumber(text)
  return n and n >= least and n < 2 ^ 53 and n or nil
end

-- Returns the state that follows its rule in the text; nil if it is none.
local function parse_state(rule, text, from)
  local used, since, rest, leased, gaps = string.match(text, '^:(%d+):(%d+):?(%d*)!?(%d*)(%*?[%d:]*)$', from)
  if not used then return nil end
  if gaps == '' then
    gaps = nil
  else
    gaps = rule.algorithm.has_pace and refund_gaps().parse(gaps)
    if not gaps then return nil end
  end
  used, since, rest = number(used, 0), number(since, 0), rest == '' and 0 or number(rest, 0)
  leased = leased == '' and 0 or number(leased, 0)
  return used and since and rest and leased
    and {rule = rule, used = used, since = since, rest = rest, leased = leased, gaps = gaps}
end

local function text_of(state)
  local text = string.format('%s:%.0f:%.0f', state.rule.text, state.used, state.since)
  if state.rest ~= 0 then text = string.format('%s:%.0f', text, state.rest) end
  if state.leased ~= 0 then text = string.format('%s!%.0f', text, state.leased) end
  return state.gaps and text .. refund_gaps().text(state.gaps) or text
end

-- Returns the state if the bucket has only one, of this very rule and without a clock skew, as most have; else nil.
local function only_state(rule, text)
  local length = #rule.text
  local state = type(text) == 'string' and string.sub(text, 1, length) == rule.text
    and parse_state(rule, text, length + 1)
  return state and state.since <= clock and state or nil
end
