-- Adds what an instance has counted to the figures of all instances, and notes that it is there: a script of its own.
--
-- KEYS[1] is a hash of the instances, KEYS[2] and so on the intervals that have counts. ARGV is the id of the
-- instance, the number of these counts, the time that the instance has taken for that of this server to choose the
-- intervals, and what is to be noted of it, empty if it leaves; then the counts of each interval. These are lines with the id of a
-- limit and its counts: calls allowed, rejected, rejected in dry run, and refused.
--
-- Returns the time, the number of instances that are there, and whether the counts are those of the present: then they are added, unless
-- they were before.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local TOLERANCE, EXPIRY = 2500000, 16 * 60 * 1000
local PRESENCE, COUNTED = 30000000, 5000000
local MOST_INSTANCES, MOST_LIMITS = 1000, 500

local instances, id, sequence, assumed, note = KEYS[1], ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]

-- The field with the number of instances, and when they were counted: not the id of one.
local COUNT = '%count'

local function reply(accepted)
    local count = string.match(redis.call('HGET', instances, COUNT) or '', ' (%d+)$')
    return {string.format('%.0f', now), count or '1', accepted}
end

local function add(key, more)
    local lines, counts = {}, {}
    for limit, a, b, c, d in string.gmatch((redis.call('GET', key) or '') .. more, '(%w+) (%d+) (%d+) (%d+) (%d+)\n') do
        local n = counts[limit]
        if n then
            counts[limit] = {n[1] + a, n[2] + b, n[3] + c, n[4] + d}
        elseif #lines < MOST_LIMITS then
            lines[#lines + 1], counts[limit] = limit, {a, b, c, d}
        end
    end
    for i, limit in ipairs(lines) do lines[i] = limit .. ' ' .. table.concat(counts[limit], ' ') .. '\n' end
    redis.call('SET', key, table.concat(lines), 'PX', EXPIRY)
end

-- Counts the instances that have told of themselves within half a minute, and have not left. Those that have been killed leave
-- a note: removes it if it is too old to matter. Reads all notes, so it is done every few seconds, or if there is a change.
local function count(changed)
    local last = tonumber(string.match(redis.call('HGET', instances, COUNT) or '', '^%d+'))
    if last and math.abs(now - last) < COUNTED and not changed then
        return
    end
    local notes, present = redis.call('HGETALL', instances), 0
    for i = 1, #notes, 2 do
        local seen, about = string.match(notes[i + 1], '^(%d+) %d+ (.?)')
        if not seen or now - seen > EXPIRY * 1000 then
            redis.call('HDEL', instances, notes[i])
        elseif about ~= '' and now - seen < PRESENCE then
            present = present + 1
        end
    end
    redis.call('HSET', instances, COUNT, string.format('%.0f %d', now, present))
end

if math.abs(now - assumed) > TOLERANCE then
    return reply(0)
end

local known = redis.call('HGET', instances, id)
local last = known and tonumber(string.match(known, '^%d+ (%d+)')) or 0
if sequence > last then
    for i = 2, #KEYS do
        add(KEYS[i], ARGV[i + 3])
    end
end
if known or redis.call('HLEN', instances) < MOST_INSTANCES then
    redis.call('HSET', instances, id, string.format('%.0f %.0f %s', now, math.max(sequence, last), note))
    redis.call('PEXPIRE', instances, EXPIRY)
end
count(not known or note == '')
return reply(1)
