-- For servers without functions: ends a run of token buckets before Redis creates the functions of the other parts.
--
-- takes: decide_token_buckets
-- leaves:

local decided = decide_token_buckets(KEYS, ARGV)
if decided then return decided end
