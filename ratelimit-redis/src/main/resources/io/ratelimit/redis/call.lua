-- Reads what is asked of a run.
--   KEYS  one bucket for each charge, those of a call one after the other
--   ARGV  a character for each charge; then limit and permits of each charge that has its own
--   0     a call that only looks
--   1     a call that charges all of its limits or none
--   2     the same, with receipts
--   3     settles charges: a refund of receipts, or charges without asking; the only call of its run
--   4     a call that charges one limit, and takes more permits in advance
--   6     the same as 2, for a call that holds permits
--   7     a call that releases the permits that a holder has, of one bucket
--   8     a call that renews the permits of holders, of one bucket
--   5     looks at one bucket or changes it, see change.lua; the only call of its run
--   +     a further charge of the call before it
--   ,     a call that charges the same limit and permits as the one before it, for another bucket
--   =     the same for the same bucket, without a key of its own
--   limit the rule and its options: T20@1/100ms>500000~?
--         >micros  how far ahead permits may be reserved
--         ~        a leaky bucket: an admitted call waits until all permits taken before it are back
--         ?        a dry run, which rejects no call
--         |1793491200,1796083200  where calendar units begin, see calendar_window.lua; the last option
--         #60000000,600000000  for how many microseconds violations block the key: the first, the next soon after it, …
--
-- takes:
-- leaves: LOOK CHARGE RECEIPTS SETTLE LEASE CHANGE HOLD RELEASE FURTHER OTHER_KEY AS_BEFORE

local LOOK, CHARGE, RECEIPTS, SETTLE, LEASE, CHANGE, FURTHER, OTHER_KEY, AS_BEFORE = 48, 49, 50, 51, 52, 53, 43, 44, 61
local HOLD, RELEASE = 54, 55
