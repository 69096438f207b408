-- L: sliding log. Records when permits were taken; each comes back rule.micros later. The key holds a list: the text of the
-- states, then the entries in blocks, one entry for each call, the oldest first. An entry has the permits of all entries up to
-- it, so that the one with the n-th permit is found by bisection. Several logs of one bucket share the entries.
--   used   permits of the entries in view
--   since  when the newest entry was added
--   rest   permits of the entries that are no longer in view, and perhaps of a part of the oldest one
--   block  permits of all entries before it, in 7 bytes; for each of its entries the microsecond, in 7, and permits of
--          the block up to it, in 3
--
-- takes: redis_call redis_pcall floor sub least greatest algorithms number_used
-- leaves:

function algorithms.L()
  local sliding_window_log = {has_entries = true, used = number_used}

  local pack, unpack = struct.pack, struct.unpack
  local START, ENTRY, START_BYTES, ENTRY_BYTES = '>I7', '>I7I3', 7, 10
  -- More permits than any log may hold count as so many, to fit into 3 bytes.
  local ENTRIES_AT_MOST, PERMITS_AT_MOST = 16, 10000
  local NONE = {}

  local function entries_of(block)
    return (#block - START_BYTES) / ENTRY_BYTES
  end

  local function start_of(block)
    return (unpack(START, block))
  end

  -- Returns the time of the block's j-th entry, and the permits of all entries up to it.
  local function entry_at(block, j)
    local time, permits = unpack(ENTRY, block, START_BYTES + 1 + (j - 1) * ENTRY_BYTES)
    return time, start_of(block) + permits
  end

  local function total_before(block, j)
    if j == 1 then return start_of(block) end
    local _, total = entry_at(block, j - 1)
    return total
  end

  local function block_at(bucket, i)
    local block = bucket.blocks[i] or redis_call('LINDEX', bucket.key, i)
    bucket.blocks[i] = block
    return block
  end

  local function total_of(bucket)
    if bucket.count == 0 then return 0 end
    local last = block_at(bucket, bucket.count)
    return total_before(last, entries_of(last) + 1)
  end

  -- Returns the first entry, from a block on, that is later than the time and with which there are more permits than the
  -- total: the number of its block, the block, and its number in the block. There must be one. Bisections test their first
  -- first, because it is often the one.
  local function find(bucket, first, time, total)
    local low, middle, high = first, first, bucket.count
    while low < high do
      local block = block_at(bucket, middle)
      local last_time, last_total = entry_at(block, entries_of(block))
      if last_time > time and last_total > total then high = middle else low = middle + 1 end
      middle = floor((low + high) / 2)
    end
    local i, block = low, block_at(bucket, low)
    local before = start_of(block)
    low, middle, high = 1, 1, entries_of(block)
    while low < high do
      local entry_time, permits = unpack(ENTRY, block, START_BYTES + 1 + (middle - 1) * ENTRY_BYTES)
      if entry_time > time and before + permits > total then high = middle else low = middle + 1 end
      middle = floor((low + high) / 2)
    end
    return i, block, low
  end

  local found = {}

  -- Returns the logs of the bucket, until the next call of this function.
  local function logs(bucket)
    local count = 0
    if bucket.own.rule.algorithm == sliding_window_log then found[1], count = bucket.own, 1 end
    for _, state in ipairs(bucket.others or NONE) do
      if state.rule.algorithm == sliding_window_log then count, found[count + 1] = count + 1, state end
    end
    found[count + 1] = nil
    return found
  end

  local function change(bucket, i)
    bucket.changed_from = least(bucket.changed_from or i, i)
  end

  -- Adds one entry for a charge, however many logs there are. If none of them has entries in view, all start again.
  local function append(bucket, permits)
    if bucket.appended then return end
    bucket.appended = true
    local total, in_view, sharing = total_of(bucket), false, logs(bucket)
    local block = bucket.blocks[bucket.count]
    for _, log in ipairs(sharing) do in_view = in_view or log.used > 0 end
    if not in_view then
      total, block = 0, nil
      for _, log in ipairs(sharing) do log.rest, log.first = 0, bucket.count + 1 end
    end
    if not block or entries_of(block) == ENTRIES_AT_MOST then
      bucket.count, block = bucket.count + 1, pack(START, total)
    end
    bucket.blocks[bucket.count] = block .. pack(ENTRY, bucket.now, total - start_of(block) + permits)
    change(bucket, bucket.count)
  end

  -- Removes from view all entries before the first that find would return.
  local function begin_at(state, bucket, time, total)
    local i, block, j = find(bucket, state.first or 1, time, total)
    local before = greatest(state.rest, total_before(block, j))
    state.first, state.used, state.rest = i, state.used - (before - state.rest), before
  end

  local function forget_all(log, bucket)
    log.used, log.since = 0, bucket.now
    log.rest, log.first = total_of(bucket), greatest(1, bucket.count)
  end

  -- Removes the oldest entries of a log that has more than so many permits: they leave before it has room again.
  local function cut(state, bucket, most)
    local spare = state.used - most
    if spare > 0 then begin_at(state, bucket, -1, state.rest + spare) end
  end

  -- Most logs are one block, which comes with the text.
  function sliding_window_log.read(bucket)
    local read = redis_pcall('LRANGE', bucket.key, 0, 2)
    if read.err then return read end
    local length = #read < 3 and #read or redis_call('LLEN', bucket.key)
    bucket.listed, bucket.is_string = length > 0, false
    local text = table.remove(read, 1)
    bucket.length = greatest(0, length - 1)
    bucket.count, bucket.blocks, bucket.changed_from, bucket.appended = bucket.length, read, nil, false
    bucket.own.first = nil
    return text
  end

  function sliding_window_log.recover(state, bucket)
    local horizon = bucket.now - state.rule.micros
    if state.used > 0 and state.since > horizon then
      begin_at(state, bucket, horizon, state.rest)
    else
      forget_all(state, bucket)
    end
  end

  function sliding_window_log.time_until(state, bucket, most)
    local time = state.since
    if most > 0 then
      local _, block, j = find(bucket, state.first or 1, -1, state.rest + state.used - most - 1)
      time = entry_at(block, j)
    end
    return time + state.rule.micros - bucket.now
  end

  local function add_entry(state, bucket, permits, most)
    permits = least(permits, PERMITS_AT_MOST)
    append(bucket, permits)
    state.used, state.since = state.used + permits, bucket.now
    cut(state, bucket, most)
  end

  function sliding_window_log.take(state, bucket, permits)
    add_entry(state, bucket, permits, state.rule.capacity)
  end

  function sliding_window_log.write(bucket, text, expiry)
    local key, first, changed = bucket.key, math.huge, bucket.changed_from or math.huge
    for _, log in ipairs(logs(bucket)) do first = least(first, log.first or 1) end
    if bucket.is_string then redis_call('DEL', key) end
    -- A full Redis refuses RPUSH, but not after another write. So this comes first.
    if not bucket.listed then redis_call('RPUSH', key, text) end
    for i = greatest(changed, first), bucket.count do
      if i <= bucket.length then
        redis_call('LSET', key, i, bucket.blocks[i])
      else
        redis_call('RPUSH', key, bucket.blocks[i])
      end
    end
    if bucket.count < bucket.length then redis_call('LTRIM', key, 0, bucket.count) end
    if bucket.listed then
      local gone = least(first - 1, bucket.length)
      redis_call('LSET', key, gone, text)
      if gone > 0 then redis_call('LTRIM', key, gone, -1) end
    end
    redis_call('PEXPIRE', key, expiry)
  end

  function sliding_window_log.define_rare()
    sliding_window_log.observe = sliding_window_log.take

    -- With a debt as large as the capacity the oldest entries go: what can still be refunded is no larger.
    function sliding_window_log.force(state, bucket, permits)
      add_entry(state, bucket, permits, 2 * state.rule.capacity)
    end

    function sliding_window_log.adopt(state, bucket, other, used)
      if other.rule.algorithm == sliding_window_log then
        state.used, state.since, state.rest = other.used, other.since, other.rest
        cut(state, bucket, state.rule.capacity)
        return
      end
      state.rest = total_of(bucket)
      if used > 0 then
        append(bucket, used)
        state.used = used
      end
    end

    -- Removes the newest entries for all logs of the bucket, because they share them. The last one left may keep a part.
    function sliding_window_log.grant(_, bucket, permits)
      if bucket.granted then return end
      local sharing, most, total, time = logs(bucket), 0, total_of(bucket) - permits, nil
      bucket.granted = true
      for _, log in ipairs(sharing) do most = greatest(most, log.used) end
      if permits < most then
        local i, block, j = find(bucket, 1, -1, total - 1)
        time = entry_at(block, j)
        for k = i + 1, bucket.count do bucket.blocks[k] = nil end
        bucket.blocks[i] = sub(block, 1, START_BYTES + (j - 1) * ENTRY_BYTES) .. pack(ENTRY, time, total - start_of(block))
        bucket.count = i
        change(bucket, i)
      end
      for _, log in ipairs(sharing) do
        if permits < log.used then log.used, log.since = log.used - permits, time else forget_all(log, bucket) end
      end
    end

    -- Returns the newest entry of that many permits at a time: the number of its block, and its number in the block.
    local function entry_of(bucket, time, permits)
      local first, _, j = find(bucket, 1, time - 1, -1)
      local found_block, found
      for i = first, bucket.count do
        local block = block_at(bucket, i)
        for k = i == first and j or 1, entries_of(block) do
          local other, total = entry_at(block, k)
          if other > time then return found_block, found end
          if total - total_before(block, k) == permits then found_block, found = i, k end
        end
      end
      return found_block, found
    end

    -- Adds entries of another block, with less permits before each.
    local function add(block, other, from, to, less)
      local start = start_of(block) + less
      for j = from, to do
        local time, total = entry_at(other, j)
        block = block .. pack(ENTRY, time, total - start)
      end
      return block
    end

    local function remove_block(bucket, i)
      table.remove(bucket.blocks, i)
      bucket.count = bucket.count - 1
    end

    -- Joins two adjacent blocks if one can hold their entries.
    local function join(bucket, i)
      local block, after = bucket.blocks[i], bucket.blocks[i + 1]
      if block and after and entries_of(block) + entries_of(after) <= ENTRIES_AT_MOST then
        bucket.blocks[i] = add(block, after, 1, entries_of(after), 0)
        remove_block(bucket, i + 1)
        change(bucket, i)
      end
    end

    -- Removes an entry, or permits of it.
    local function remove(bucket, i, j, permits, charged)
      local block = bucket.blocks[i]
      local kept = sub(block, 1, START_BYTES + (j - 1) * ENTRY_BYTES)
      if permits < charged then kept = add(kept, block, j, j, permits) end
      bucket.blocks[i] = add(kept, block, j + 1, entries_of(block), permits)
      for k = i + 1, bucket.count do
        local later = bucket.blocks[k]
        bucket.blocks[k] = pack(START, start_of(later) - permits) .. sub(later, START_BYTES + 1)
      end
      change(bucket, i)
      if #bucket.blocks[i] == START_BYTES then remove_block(bucket, i) end
      join(bucket, i)
      join(bucket, i - 1)
    end

    -- Removes the entry from all logs of the bucket, because they share it. If another log is full, it may have dropped older
    -- entries for this one: then the entry stays, in place of as many older permits, which come back later, never earlier.
    function sliding_window_log.refund(state, bucket, permits, receipt)
      if receipt.since > state.since then return end
      bucket.blocks = redis_call('LRANGE', bucket.key, 1, -1)
      local i, j = entry_of(bucket, receipt.since, receipt.permits)
      if not i then return end
      local _, total = entry_at(bucket.blocks[i], j)
      for _, log in ipairs(logs(bucket)) do
        if log ~= state and log.used >= log.rule.capacity then
          local gone = greatest(0, least(permits, total - state.rest))
          state.used, state.rest = state.used - gone, state.rest + gone
          return
        end
      end
      remove(bucket, i, j, permits, receipt.permits)
      local last = bucket.blocks[bucket.count]
      for _, log in ipairs(logs(bucket)) do
        local rest = total > log.rest and least(log.rest, total - permits) or log.rest - permits
        log.used, log.rest = log.used - permits + log.rest - rest, rest
        log.first = nil
        if last then log.since = entry_at(last, entries_of(last)) end
      end
    end
  end

  return sliding_window_log
end
