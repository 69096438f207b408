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
  local limit = limits[text]
  if limit then return limit end
  local rule, options = parse_rule(text)
  limit = {rule = rule, ahead = 0, spaced = false, binding = true}
  if options ~= '' then
    local ahead, spaced, dry_run = string.match(options, '^>?(%d*)(~?)(%??)$')
    limit.ahead, limit.spaced, limit.binding = tonumber(ahead) or 0, spaced ~= '', dry_run == ''
  end
  limits[text] = limit
  return limit
end
