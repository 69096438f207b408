-- Reads and writes what few buckets have: states of other rules, a clock skew, and a block. Recognizes values that were not written by
-- the starter.
--
-- takes: redis_call redis_pcall format match least greatest new_state clock refund_gaps number parse_state text_of complete parse_rule reset_after
-- leaves: rare_state

local function make_rare_state()
  local rare_state = {}

  local STATES_AT_MOST = 3

  -- Returns true and the reply; false if the value has another type.
  function rare_state.read(command, ...)
    local reply = redis_pcall(command, ...)
    if type(reply) ~= 'table' then return true, reply end
    -- Any other error fails the run.
    if not string.find(reply.err, 'WRONGTYPE', 1, true) then redis_call(command, ...) end
    return false
  end

  -- Returns when nothing depends on the block any more. A violation within its duration after its end is a further one.
  local function forgotten(block)
    return block.violations == 0 and block.till or 2 * block.till - block.since
  end

  -- Returns the block after a violation; the one before is forgotten or over.
  function rare_state.violated(before, durations, now)
    local violations = before and before.violations or 0
    return {since = now, till = now + durations[least(violations + 1, #durations)], violations = violations + 1}
  end

  -- Returns the numbers of a skew or a block; nil if the text is none.
  local function parse_numbers(text)
    local a, b, c = match(text, '^[+#](%d+):(%d+):(%d+)$')
    a, b, c = number(a, 0), number(b, 0), number(c, 0)
    if a and b and c then return a, b, c end
  end

  -- Returns the states, the skew and the block; nil if the text was not written by the starter.
  local function parse(text)
    local states, head, skew, block = {}, match(text, '^([^+#]*)(%+?[%d:]*) ?(#?[%d:]*)$')
    for part in string.gmatch(head or '', '%S+') do
      local rule, rest = parse_rule(part)
      local state = rule and #states < STATES_AT_MOST and parse_state({}, rule, rest)
      if not state then return nil end
      states[#states + 1] = state
    end
    if #states == 0 then return nil end
    local offset, seen, promise = parse_numbers(skew)
    local since, till, violations = parse_numbers(block)
    if skew ~= '' and not offset or block ~= '' and not since then return nil end
    return states, offset and {offset = offset, seen = seen, promise = promise},
      since and {since = since, till = till, violations = violations}
  end

  -- A bucket's own time never goes back. While the clock shows less than the bucket has seen, the bucket's time goes on from
  -- there at the clock's speed. So nothing is refilled twice, and no caller waits for the clock. Once the clock shows more than
  -- the bucket has seen, it is trusted again, because then nothing is refilled for the time in which it was wrong. One
  -- exception: if a caller was told to wait longer than the clock is behind, and did, it finds what was promised.
  function rare_state.tell_time(bucket, states)
    local skew, block, seen = bucket.skew, bucket.block, 0
    for _, state in ipairs(states) do seen = greatest(seen, state.since) end
    if block then seen = greatest(seen, block.since) end
    if skew then
      bucket.changed = true
      seen = greatest(seen, skew.seen)
    end
    if clock < seen then
      skew = skew or {offset = 0, promise = 0}
      skew.offset = greatest(skew.offset, seen - clock)
    elseif skew and (skew.promise == 0 or clock + skew.offset < skew.promise) then
      skew = nil
    end
    bucket.skew, bucket.now = skew, clock
    if skew then
      bucket.changed, bucket.now = true, clock + skew.offset
      skew.seen = bucket.now
      if skew.promise <= bucket.now + skew.offset then skew.promise = 0 end
    end
    if block and bucket.now >= forgotten(block) then
      bucket.block, bucket.changed = nil, true
    end
  end

  -- Records the time at which a rejected caller was told to try again.
  function rare_state.promise(bucket, retry)
    local skew = bucket.skew
    if skew and retry > skew.offset then
      local time = bucket.now + retry
      skew.promise = skew.promise == 0 and time or least(skew.promise, time)
    end
  end

  local function used(state, bucket)
    return state.rule.algorithm.used(state, bucket)
  end

  local function recover(state, bucket)
    local algorithm = state.rule.algorithm
    algorithm.recover(state, bucket)
    -- Whatever was taken is back.
    if state.leased ~= 0 and not algorithm.own and used(state, bucket) == 0 then state.leased = 0 end
  end

  -- Returns the state that a new rule adopts: the one with the most permits in use, the last used of equal ones; for a log
  -- another log, if any, because they share entries.
  local function adopted_by(rule, states, bucket)
    local adopted, most = nil, nil
    for _, state in ipairs(states) do
      local score = used(state, bucket)
      if rule.algorithm.has_entries and not state.rule.algorithm.has_entries then score = score - 2 ^ 53 end
      if not most or score > most then adopted, most = state, score end
    end
    return adopted
  end

  -- Returns the index of the state that makes room for another: the one that was used longest ago, but not the one with the
  -- largest capacity. Only that one has counted all permits that are not back, so only an unused one can be forgotten.
  local function least_needed(states, bucket)
    local oldest = states[#states]
    if used(oldest, bucket) == 0 then return #states end
    for i = 1, #states - 1 do
      if states[i].rule.capacity >= oldest.rule.capacity then return #states end
    end
    return #states - 1
  end

  -- Returns whether nothing is taken by any rule. The key then expires within a millisecond, and is read as if it had.
  local function is_full(bucket, states)
    if bucket.skew or bucket.block then return false end
    for _, state in ipairs(states) do
      recover(state, bucket)
      -- An algorithm of an application may say that no permits are used of a state that it still needs.
      local left = state.rule.algorithm.own and state.used or used(state, bucket)
      if state.gaps or left > 0 then return false end
    end
    return true
  end

  -- Puts the rule's state first. A new rule adopts what the previous rules have counted. This must be written even without a
  -- charge: if each call adopted it again, used permits would never come back.
  local function choose(bucket, states)
    local rule, others, own = bucket.rule, {}, nil
    for _, state in ipairs(states) do
      if state.rule.text == rule.text then own = state else others[#others + 1] = state end
    end
    bucket.own = own or new_state(rule, bucket.now)
    -- The rule of a limit may know more than one that was read.
    bucket.own.rule = rule
    if #others > 0 and is_full(bucket, states) then
      bucket.own, own, others = new_state(rule, bucket.now), nil, {}
    end
    bucket.rule_is_new = not own
    if #others > 0 and not own then
      for _, state in ipairs(others) do recover(state, bucket) end
      local adopted = adopted_by(rule, others, bucket)
      local taken = used(adopted, bucket)
      -- It may have had a state before, which knew what its earlier charges have taken: they cannot be refunded any more.
      if not rule.algorithm.own then
        bucket.own.leased = greatest(adopted.leased, taken > rule.capacity and bucket.now + 1 or bucket.now)
      end
      complete(rule.algorithm).adopt(bucket.own, bucket, adopted, least(taken, rule.capacity))
      if #others == STATES_AT_MOST then table.remove(others, least_needed(others, bucket)) end
      bucket.changed = true
    end
    recover(bucket.own, bucket)
    bucket.others = #others > 0 and others or nil
    for _, state in ipairs(others) do bucket.write = bucket.write or state.rule.algorithm.write end
  end

  -- Fills the bucket from the text, or the head of a list. Returns false if its value was not written by the starter.
  --   text  what the key holds; a table if that is not a list for an algorithm with entries, or no string for another
  function rare_state.load(bucket, text)
    local listed = bucket.rule.algorithm.has_entries or false
    if type(text) == 'table' then
      local known
      listed = not listed
      if listed then
        known, text = rare_state.read('LINDEX', bucket.key, 0)
      else
        known, text = rare_state.read('GET', bucket.key)
      end
      if not known then return false end
    end
    local states
    states, bucket.skew, bucket.block = parse(text)
    if not states then return false end
    bucket.listed, bucket.is_string = listed, not listed
    bucket.length = listed and redis_call('LLEN', bucket.key) - 1 or 0
    bucket.count, bucket.blocks, bucket.changed_from, bucket.appended = bucket.length, {}, nil, false
    rare_state.tell_time(bucket, states)
    choose(bucket, states)
    return true
  end

  function rare_state.recover_others(bucket)
    for _, state in ipairs(bucket.others or {}) do recover(state, bucket) end
  end

  function rare_state.observe(bucket, permits)
    for _, state in ipairs(bucket.others) do
      local algorithm, before = complete(state.rule.algorithm), state.used
      algorithm.observe(state, bucket, permits)
      -- What is not counted must not be refunded in place of an earlier charge.
      if state.used - before < permits and not algorithm.own then state.leased = greatest(state.leased, bucket.now) + 1 end
    end
  end

  -- Undoes a charge in the states of other rules of the same kind, which have counted it, too.
  function rare_state.refund_observed(bucket, permits, time, refund, later)
    local algorithm = bucket.rule.algorithm
    rare_state.recover_others(bucket)
    for _, state in ipairs(bucket.others) do
      local counts = state.rule.algorithm == algorithm and not algorithm.has_entries and not algorithm.own
      -- In a window that has begun since, the charge does not count.
      if counts and time >= state.leased and (later or time >= state.since) then
        refund(state, bucket, permits, later or {since = state.since, used = -1, rest = state.rest})
        recover(state, bucket)
      end
    end
  end

  -- Adds to the text of the bucket's own state.
  function rare_state.add(bucket, text)
    for _, state in ipairs(bucket.others or {}) do text = text .. ' ' .. text_of(state) end
    local skew, block = bucket.skew, bucket.block
    if skew then text = format('%s +%.0f:%.0f:%.0f', text, skew.offset, skew.seen, skew.promise) end
    return block and format('%s #%.0f:%.0f:%.0f', text, block.since, block.till, block.violations) or text
  end

  -- Returns when all states of the bucket are unused and its block is forgotten, given when its own state is unused.
  function rare_state.last(bucket, reset)
    for _, state in ipairs(bucket.others or {}) do
      reset = greatest(reset, reset_after(state, bucket))
      if state.gaps then reset = greatest(reset, refund_gaps().last(state) - bucket.now) end
    end
    if bucket.block then reset = greatest(reset, forgotten(bucket.block) - bucket.now) end
    -- The skew is needed until the clock has caught up.
    return bucket.skew and reset + bucket.skew.offset or reset
  end

  return rare_state
end

local rare_state_made

local function rare_state()
  rare_state_made = rare_state_made or make_rare_state()
  return rare_state_made
end
