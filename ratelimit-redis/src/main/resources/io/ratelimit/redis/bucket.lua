-- A bucket has a state for each rule in use, three at most, the last used first. The value at its key is their text:
--   T20@1/100ms:2:1795251352713710             rule:used:since
--   T10@3/7s:1:1795251352713710:2 S20/1m:3:1795251300000000:9     rule:used:since:rest, two rules
--   T20@1/100ms:5:1795251352713710!1795251353213710  some charges cannot be refunded: rule:used:since!leased
--   T20@1/100ms:2:1795251352713710*3:1795251352713710:0:1    after a refund: rule:used:since*gaps, see refund_gaps.lua
--   T20@1/100ms:2:1795251352713710 +3600000000:1795251352713710:0     with a clock skew: +offset:seen:promise
--   T20@1/100ms:20:1795251352713710 #1795251352713710:1795251412713710:1  a blocked key: #began:ends:violations
--   rule    letter of the algorithm, capacity, and @permits/period of the pace or /length of the window
--   used    permits that have been taken and have not come back
--   since   microseconds of the epoch; what happened then depends on the algorithm, but it is never later than the last charge
--   rest    what else the algorithm remembers, omitted if 0
--   leased  charges made before this time cannot be refunded: when the last leased permit was to come back, if permits come back
--           in the order in which they were taken, or when a call that another rule has admitted did not fit; never earlier than before
--   gaps    if permits come back in the order in which they were taken, and a refund has changed when
--   skew    while the clock is behind what it showed before: what is added to it, the bucket's own time when it was last
--           read, and the time for which a caller was told that the call could succeed then, or 0
--   block   since when and until when the key is blocked, and how many violations in a row there were; 0: by an operator
-- A log's value is a list: that text, then its entries.
--
-- takes: match sub format clock refund_gaps
-- leaves: number_used number new_state parse_state text_of read_only_state

-- Returns the permits in use, for algorithms that count them one by one.
local function number_used(state)
  return state.used
end

-- Returns the number; nil if the text is none, or it is not exact.
local function number(text, least_number)
  local n = tonumber(text)
  return n and n >= least_number and n < 2 ^ 53 and n or nil
end

-- Returns the state of an unused bucket.
local function new_state(rule, now)
  return {rule = rule, used = 0, since = now, rest = 0, leased = 0, gaps = nil}
end

-- Fills the state with what follows its rule in the text, and returns it; nil if that is no state.
local function parse_state(state, rule, text, from)
  local used, since, rest, leased, gaps = match(text, '^:(%d+):(%d+):?(%d*)!?(%d*)(%*?[%d:]*)$', from)
  if not used then return nil end
  used, since = used + 0, since + 0
  rest, leased = rest == '' and 0 or rest + 0, leased == '' and 0 or leased + 0
  if used >= 2 ^ 53 or since >= 2 ^ 53 or rest >= 2 ^ 53 or leased >= 2 ^ 53 then return nil end
  if gaps == '' then
    gaps = nil
  else
    gaps = rule.algorithm.has_pace and refund_gaps().parse(gaps)
    if not gaps then return nil end
  end
  state.rule, state.used, state.since, state.rest, state.leased, state.gaps = rule, used, since, rest, leased, gaps
  return state
end

local function text_of(state)
  local text
  if state.rest == 0 then
    text = format('%s:%.0f:%.0f', state.rule.text, state.used, state.since)
  else
    text = format('%s:%.0f:%.0f:%.0f', state.rule.text, state.used, state.since, state.rest)
  end
  if state.leased ~= 0 then text = format('%s!%.0f', text, state.leased) end
  return state.gaps and text .. refund_gaps().text(state.gaps) or text
end

-- Fills the state if the bucket has only one, of this very rule and without a clock skew, as most have; else returns false.
local function read_only_state(state, rule, text)
  local length = #rule.text
  return sub(text, 1, length) == rule.text and parse_state(state, rule, text, length + 1) and state.since <= clock
end
