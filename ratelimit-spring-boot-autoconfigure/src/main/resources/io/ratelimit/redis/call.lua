-- Reads the request.
--   KEYS  one bucket for each charge, those of a call one after the other
--   ARGV  a character for each charge; then limit and permits of each charge that has its own
--   0     a call that only looks
--   1     a call that charges all of its limits or none
--   2     the same, with receipts
--   3     a refund of receipts; the only call of its run
--   4     a call that charges one limit, and takes more permits in advance
--   +     a further charge of the call before it
--   ,     a call that charges the same limit and permits as the one before it, for another bucket
--   =     the same for the same bucket, without a key of its own
--   limit the rule and its options: T20@1/100ms>500000~?
--         >micros  how far ahead permits may be reserved
--         ~        a leaky bucket: an admitted call waits until all permits taken before it are back
--         ?        a dry run, which rejects no call
--
-- takes: KEYS ARGV codes parse_rule
-- leaves: LOOK RECEIPTS REFUND LEASE FURTHER key_of asked_of permits_text limit_of

local LOOK, CHARGE, RECEIPTS, REFUND, LEASE, FURTHER = '0', '1', '2', '3', '4', '+'

-- By the number of the charge.
local key_of, asked_of, limit_text, permits_text = {}, {}, {}, {}

local function read_charges()
  local keys, arguments = 0, 1
  for i = 1, #codes do
    local code = string.sub(codes, i, i)
    if code == ',' or code == '=' then
      limit_text[i], permits_text[i], asked_of[i] = limit_text[i - 1], permits_text[i - 1], CHARGE
    else
      limit_text[i], permits_text[i], asked_of[i] = ARGV[arguments + 1], ARGV[arguments + 2], code
      arguments = arguments + 2
    end
    if code ~= '=' then keys = keys + 1 end
    key_of[i] = KEYS[keys]
  end
end

read_charges()

local limits = {}

local function limit_of(charge)
  local text = limit_text[charge]
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
