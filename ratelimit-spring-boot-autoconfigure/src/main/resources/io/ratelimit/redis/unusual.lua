-- What few buckets have: sections of other rules, a lag; and values that are none of ours.

local function make_unusual()
  local unusual = {}

  local SECTIONS = 3

  -- Returns false if the value is of another type; else true and the reply.
  local function read(command, ...)
    local reply = redis.pcall(command, ...)
    if type(reply) ~= 'table' then return true, reply end
    -- Other trouble is not the value's, and fails the run.
    if not string.find(reply.err, 'WRONGTYPE', 1, true) then redis.call(command, ...) end
    return false
  end

  -- Returns nil if the text is no lag.
  local function parse_lag(text)
    local offset, seen, promise = string.match(text, '^%+(%d+):(%d+):(%d+)$')
    offset, seen, promise = number(offset, 0), number(seen, 0), number(promise, 0)
    return offset and seen and promise and {offset = offset, seen = seen, promise = promise}
  end


  local function parse_any_section(text)
    local rule = string.match(text, '^%u%d+@?%d*/%d*%l+')
    return rule and parse_rule(rule) and parse_section(parse_rule(rule), text, #rule + 1)
  end

  -- Returns the sections and the lag, or nil if the text is none of ours.
  local function parse(text)
    local sections, lag = {}, nil
    for part in string.gmatch(text, '%S+') do
      local section = not lag and parse_any_section(part)
      if section and #sections < SECTIONS then
        sections[#sections + 1] = section
      else
        lag = not lag and parse_lag(part)
        if not lag then return nil end
      end
    end
    return #sections > 0 and sections or nil, lag
  end

  -- A bucket's own time never goes back: while the clock shows less than the bucket has seen, the bucket goes on from
  -- there, at the clock's speed. So what was given back is not given back again, and nobody waits for the clock. Once the
  -- clock shows more, it is taken to be right again, because then nothing is given back for the time that it was wrong.
  -- Only who was told to wait for longer than it is behind, and has, is right to think that it went on as it was.
  local function tell_time(bucket, sections)
    local lag, seen = bucket.lag, 0
    for _, section in ipairs(sections) do seen = math.max(seen, section.since) end
    if lag then
      bucket.changed = true
      seen = math.max(seen, lag.seen)
    end
    if clock < seen then
      lag = lag or {offset = 0, promise = 0}
      lag.offset = math.max(lag.offset, seen - clock)
    elseif lag and (lag.promise == 0 or clock + lag.offset < lag.promise) then
      lag = nil
    end
    bucket.lag, bucket.now = lag, clock
    if lag then
      bucket.changed, bucket.now = true, clock + lag.offset
      lag.seen = bucket.now
      if lag.promise <= bucket.now + lag.offset then lag.promise = 0 end
    end
  end

  -- Remembers for when a caller was told to come again.
  function unusual.promise(bucket, retry)
    local lag = bucket.lag
    if lag and retry > lag.offset then
      local time = bucket.now + retry
      lag.promise = lag.promise == 0 and time or math.min(lag.promise, time)
    end
  end

  -- The section that a new rule adopts: the last used; of a log, another log if there is one, because they share entries.
  local function adopted_by(rule, others)
    for i = 1, rule.kind.has_entries and #others or 0 do
      if others[i].rule.kind.has_entries then return others[i] end
    end
    return others[1]
  end

  -- Puts the rule's section first. A rule that is new adopts what the rule before it has counted. That is a change, to
  -- be written down: adopted again at each call, what is used would never come back.
  local function choose(bucket, sections)
    local rule, others, own = bucket.rule, {}, nil
    for _, section in ipairs(sections) do
      if section.rule == rule then
        own = section
      elseif #others < SECTIONS - 1 then
        others[#others + 1] = section
      end
    end
    bucket.rule_is_new = not own
    bucket.own = own or {rule = rule, used = 0, since = bucket.now, rest = 0, leased = 0}
    local before = not own and adopted_by(rule, others)
    if before then
      before.rule.kind.recover(before, bucket)
      complete(rule.kind).adopt(bucket.own, bucket, before)
      bucket.changed = true
    end
    rule.kind.recover(bucket.own, bucket)
    bucket.others = #others > 0 and others or nil
  end

  -- Fills the bucket from the text, or the head of a list. Returns false if the value at its key is none of ours.
  function unusual.load(bucket, text)
    if type(text) == 'table' then
      local ours
      bucket.listed = not bucket.listed
      if bucket.listed then
        ours, text = read('LINDEX', bucket.key, 0)
      else
        ours, text = read('GET', bucket.key)
      end
      if not ours then return false end
    end
    local sections
    sections, bucket.lag = parse(text)
    if not sections then return false end
    bucket.length = bucket.listed and redis.call('LLEN', bucket.key) - 1 or 0
    bucket.count, bucket.is_string, bucket.blocks = bucket.length, not bucket.listed, {}
    tell_time(bucket, sections)
    choose(bucket, sections)
    return true
  end

  function unusual.recover_others(bucket)
    for _, section in ipairs(bucket.others or {}) do section.rule.kind.recover(section, bucket) end
  end

  function unusual.witness(bucket, permits)
    for _, section in ipairs(bucket.others) do complete(section.rule.kind).witness(section, bucket, permits) end
  end

  -- Adds to the text of the bucket's own section.
  function unusual.add(bucket, text)
    for _, section in ipairs(bucket.others or {}) do text = text .. ' ' .. text_of(section) end
    local lag = bucket.lag
    return lag and string.format('%s +%.0f:%.0f:%.0f', text, lag.offset, lag.seen, lag.promise) or text
  end

  -- The same for the time until the bucket is as if never used, of which that of its own section is known.
  function unusual.last(bucket, reset)
    for _, section in ipairs(bucket.others or {}) do reset = math.max(reset, reset_after(section, bucket)) end
    -- The lag keeps the memory of the time once shown until the clock is there again.
    return bucket.lag and reset + bucket.lag.offset or reset
  end

  return unusual
end

local unusual_made

local function unusual()
  unusual_made = unusual_made or make_unusual()
  return unusual_made
end
