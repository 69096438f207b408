-- Reads what is asked of a run.
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
-- takes:
-- leaves: LOOK CHARGE RECEIPTS REFUND LEASE FURTHER OTHER_KEY AS_BEFORE

local LOOK, CHARGE, RECEIPTS, REFUND, LEASE, FURTHER, OTHER_KEY, AS_BEFORE = 48, 49, 50, 51, 52, 43, 44, 61
