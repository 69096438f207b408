-- For servers without functions: ends a run that is decided fast before Redis creates the functions of the other parts.
-- takes: decide_fast
-- leaves:
local decided = decide_fast(KEYS, ARGV)
if decided then return decided end
