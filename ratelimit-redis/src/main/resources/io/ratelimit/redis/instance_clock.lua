-- Takes the time of a run from the instance that sends it, for servers that refuse TIME: microseconds of the epoch, the last of ARGV. Only
-- texts for such servers have this part, behind those it changes.
--
-- Clocks of instances differ, so that a bucket's time is the latest that any of them has shown it, and has no skew: by one that is behind,
-- nothing comes back until it has caught up. A key outlives its bucket, or else the next instance would begin with an earlier time.
--
-- takes: name_functions begin clock redis_call decide_fast greatest rare_state save run
-- leaves:

-- By how much clocks may differ.
local TOLERATED = 10000000

local rare_state_of, save_until, run_at = rare_state, save, run

function begin()
  if not redis_call then name_functions() end
end

-- Leaves all runs to those that know these clocks.
function decide_fast()
  return nil
end

local clocks_differ = false

function rare_state()
  local rare = rare_state_of()
  if clocks_differ then return rare end
  local tell_time = rare.tell_time
  function rare.tell_time(bucket, states)
    local sent, block, skew = clock, bucket.block, bucket.skew
    for _, state in ipairs(states) do clock = greatest(clock, state.since) end
    if block then clock = greatest(clock, block.since) end
    if skew then clock = greatest(clock, skew.seen) end
    bucket.skew = nil
    tell_time(bucket, states)
    clock = sent
  end
  clocks_differ = true
  return rare
end

function save(bucket)
  local reset = bucket.reset
  if reset > 0 then bucket.reset = reset + TOLERATED end
  save_until(bucket)
  bucket.reset = reset
end

function run(KEYS, ARGV)
  clock = ARGV[#ARGV] + 0
  return run_at(KEYS, ARGV)
end
