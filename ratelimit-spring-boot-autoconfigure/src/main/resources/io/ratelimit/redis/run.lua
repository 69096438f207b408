-- What a run begins with, and what it has decided so far. Every number is an integer below 2^53, which Lua's doubles carry
-- exactly.
--
-- The parts of this script form one text, so a part can use the locals of those before it. Its first lines name them:
-- "takes" those of other parts that it uses, "leaves" its own that other parts use. A test holds these lists. Redis runs the
-- whole text for every run and so creates every function anew; functions that few runs need are created on demand.
--
-- leaves: KEYS ARGV clock codes decided replies replied counts USED SINCE REST LEASED RESET RULE
local KEYS, ARGV = KEYS, ARGV

local time = redis.call('TIME')
local clock = time[1] * 1000000 + time[2]

-- A character for each charge; call.lua explains them. The first so many charges are decided.
local codes = ARGV[1]
local decided = 0

-- The numbers of the decided charges, which decide.lua explains, and how many there are. A table that grows is copied, so
-- there is room for the first charge.
local replies, replied = {0, 0, 0, 0}, 0

-- The buckets that fast_path.lua has read, by their keys; written once everything is decided.
local USED, SINCE, REST, LEASED, RESET, RULE = 1, 2, 3, 4, 5, 6
local counts = {}
