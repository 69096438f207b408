-- What is asked.
--   KEYS  one bucket a charge, those of a call one after the other
--   ARGV  a character for each charge: that of the first of a call says what the call asks, + that a charge belongs to the
--         call before it; then for each charge its limit and its permits
--   limit    the rule, and what is not as usual: T20@1/100ms>500000~?
--            >micros  how far ahead permits may be reserved, ~ calls are spaced out, ? a dry run that binds nobody

local LOOK, RECEIPTS, GIVE_BACK, LEASE, FURTHER = '0', '2', '3', '4', '+'

local limits = {}

local function limit_of(charge)
  local text = ARGV[2 * charge]
  if not limits[text] then
    local rule, ahead, spaced, dry_run = string.match(text, '^([^>~?]+)>?(%d*)(~?)(%??)$')
    limits[text] = {
      rule = parse_rule(rule),
      ahead = tonumber(ahead) or 0,
      spaced = spaced ~= '',
      binding = dry_run == '',
    }
  end
  return limits[text]
end

local function permits_of(charge)
  return ARGV[2 * charge + 1]
end

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]
