-- G: remembers when permits were taken; each comes back rule.micros later. The key is a list then: the sections' text,
-- and behind it an entry for each call, the oldest first: the permits and, in 16 digits, the microsecond. Redis keeps
-- such a number in nine bytes. Two logs of one bucket share the entries.
--   used   permits of the entries in view
--   since  when the newest entry was made
--   rest   how many entries at the beginning are no longer in view

function kinds.G()
  local sliding_window_log = {has_entries = true, used = number_used}

  local FETCHED_AT_FIRST, FETCHED_AT_MOST = 8, 512

  local function fetch(bucket, from)
    local size = math.min(2 * (bucket.fetched or FETCHED_AT_FIRST / 2), FETCHED_AT_MOST)
    bucket.fetched, bucket.entries = size, bucket.entries or {}
    for i, entry in ipairs(redis.call('LRANGE', bucket.key, from, from + size - 1)) do
      bucket.entries[from + i - 1] = entry
    end
  end

  -- The time and the permits of the i-th entry.
  local function entry_at(bucket, i)
    local entry
    if i > bucket.length then
      entry = bucket.new_entries[i - bucket.length]
    else
      if not (bucket.entries and bucket.entries[i]) then fetch(bucket, i) end
      entry = bucket.entries[i]
    end
    return tonumber(string.sub(entry, -16)), tonumber(string.sub(entry, 1, -17))
  end

  local function count(bucket)
    return bucket.length + #bucket.new_entries
  end

  local function logs(bucket)
    local found = {bucket.own.rule.kind == sliding_window_log and bucket.own or nil}
    for _, section in ipairs(bucket.others or {}) do
      if section.rule.kind == sliding_window_log then found[#found + 1] = section end
    end
    return found
  end

  local function entry_of(time, permits)
    return string.format('%.0f%016.0f', permits, time)
  end

  -- A charge makes one entry, however many logs there are.
  local function append(bucket, permits)
    if bucket.appended then return end
    bucket.appended = true
    bucket.new_entries[#bucket.new_entries + 1] = entry_of(bucket.now, permits)
  end

  -- Of a log that is fuller than its rule allows the oldest entries say nothing: they are gone before it has room.
  local function cut(section, bucket)
    while section.used > section.rule.capacity do
      local _, permits = entry_at(bucket, section.rest + 1)
      if section.used - permits < section.rule.capacity then return end
      section.used, section.rest = section.used - permits, section.rest + 1
    end
  end

  function sliding_window_log.recover(section, bucket)
    local horizon, before = bucket.now - section.rule.micros, section.rest
    if section.since <= horizon then section.used = 0 end
    while section.used > 0 do
      local time, permits = entry_at(bucket, section.rest + 1)
      if time > horizon then break end
      section.used, section.rest = section.used - permits, section.rest + 1
    end
    if section.used == 0 then section.since, section.rest = bucket.now, count(bucket) end
    bucket.changed = bucket.changed or section.rest > before
  end

  function sliding_window_log.time_until(section, bucket, most)
    if most == 0 then return section.since + section.rule.micros - bucket.now end
    local left, i, time, permits = section.used, section.rest, nil, nil
    while left > most do
      i = i + 1
      time, permits = entry_at(bucket, i)
      left = left - permits
    end
    return time + section.rule.micros - bucket.now
  end

  function sliding_window_log.take(section, bucket, permits)
    append(bucket, permits)
    section.used, section.since = section.used + permits, bucket.now
    cut(section, bucket)
  end

  function save_entries(bucket, text_of, expiry)
    local logs, unseen = logs(bucket), math.huge
    if #logs == 0 then return false end
    for _, log in ipairs(logs) do unseen = math.min(unseen, log.rest) end
    for _, log in ipairs(logs) do log.rest = log.rest - unseen end
    if bucket.is_string then redis.call('DEL', bucket.key) end
    -- First what a full Redis refuses: after another write it would let it pass.
    for i = math.max(0, unseen - bucket.length) + 1, #bucket.new_entries do
      redis.call('RPUSH', bucket.key, bucket.new_entries[i])
    end
    if bucket.listed then redis.call('LTRIM', bucket.key, 1 + math.min(unseen, bucket.length), -1) end
    redis.call('LPUSH', bucket.key, text_of(bucket))
    redis.call('PEXPIRE', bucket.key, expiry)
    return true
  end

  function sliding_window_log.rarely()
    sliding_window_log.witness = sliding_window_log.take

    function sliding_window_log.adopt(section, bucket, other)
      if other.rule.kind == sliding_window_log then
        section.used, section.since, section.rest = other.used, other.since, other.rest
        cut(section, bucket)
        return
      end
      section.rest = count(bucket)
      section.used = math.min(other.rule.kind.used(other, bucket), section.rule.capacity)
      if section.used > 0 then
        bucket.new_entries[#bucket.new_entries + 1] = entry_of(bucket.now, section.used)
      end
    end

    -- Takes the entry out of all logs of the bucket, because they share it.
    function sliding_window_log.give_back(section, bucket, permits, receipt)
      if not bucket.listed then return end
      local entry = entry_of(receipt.since, permits)
      local at = redis.call('LPOS', bucket.key, entry, 'RANK', -1)
      if not at then return end
      redis.call('LREM', bucket.key, -1, entry)
      bucket.length, bucket.entries = bucket.length - 1, nil
      for _, log in ipairs(logs(bucket)) do
        if at > log.rest then log.used = log.used - permits else log.rest = log.rest - 1 end
        if count(bucket) > 0 then log.since = entry_at(bucket, count(bucket)) end
      end
    end
  end

  return sliding_window_log
end
