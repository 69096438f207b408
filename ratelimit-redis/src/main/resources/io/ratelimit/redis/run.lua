-- What a run begins with. Every number is an integer below 2^53, which Lua's doubles carry exactly.
--
-- The parts form one text, so a part can use the locals of those before it. Its first lines name them: "takes" those of other
-- parts that it uses, "leaves" its own that other parts use. A test holds these lists.
-- Redis runs the text once as that of a library, and then only decide_fast and run; as that of a script, for every run. So
--   what a run needs is created once, and used again by later runs: a new table costs more than filling ten fields of an old one
--   what few runs need is created on demand, because a script creates every function anew
--   a run may end anywhere, by an error of Redis: what it leaves behind is reset when the next one begins
--
-- takes:
-- leaves: name_functions begin clock redis_call redis_pcall format match sub byte floor

-- While Redis 7.0 loads a library, it shows it none of these.
local redis_call, redis_pcall, format, match, sub, byte, floor

-- Microseconds of the epoch.
local clock

local function name_functions()
  redis_call, redis_pcall, floor = redis.call, redis.pcall, math.floor
  format, match, sub, byte = string.format, string.match, string.sub, string.byte
end

local function begin()
  if not redis_call then name_functions() end
  local time = redis_call('TIME')
  clock = time[1] * 1000000 + time[2]
end
