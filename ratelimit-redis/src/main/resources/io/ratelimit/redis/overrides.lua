-- Reads or changes the overrides of all limits: a script of its own.
--
-- KEYS[1] holds a line for each limit: its id, the version and the end of the override (0: none), and its attributes.
-- ARGV is empty to read; or the id of a limit, the expected version (-1: any), the duration (0: none), and the attributes,
-- empty to remove the override; and then the channel and the message that tell other instances of the change, if there are any.
-- All times are microseconds; a version is the time of its change.
--
-- Returns a line with the time, the result, the version before the change, how many overrides have ended, and whether the message
-- could not be published, and then the value. Overrides that have ended are removed, if Redis can write. The key expires with the
-- last override, unless one does not end.
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local key, id, expected, duration, attributes = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- By how much clocks of instances may differ. A version further ahead tells that the clock was set back: its duration begins anew.
local TOLERATED = 10000000

local lines, ended, set_back, present, newest, longest = {}, 0, false, nil, 0, 0

local function keep(line, finish)
    lines[#lines + 1] = line
    longest = math.max(longest, finish == 0 and math.huge or finish)
end

for line in string.gmatch(redis.call('GET', key) or '', '[^\n]+') do
    local limit, version, finish = string.match(line, '^(%S+) (%d+) (%d+)')
    if not limit then
        return redis.error_reply('WRONGTYPE the value at the key is not the overrides of rate limits')
    end
    version, finish = tonumber(version), tonumber(finish)
    if version > now + TOLERATED then
        version, finish, set_back = now, finish == 0 and 0 or finish - (version - now), true
        line = string.format('%s %.0f %.0f%s', limit, version, finish, string.match(line, '^%S+ %d+ %d+(.*)$'))
    end
    newest = math.max(newest, version)
    if finish ~= 0 and finish <= now then
        ended = ended + 1
    elseif limit == id then
        present = {line, version, finish}
    else
        keep(line, finish)
    end
end

local result = 'UNCHANGED'
local version = present and present[2] or 0
if id and expected ~= '-1' and tonumber(expected) ~= version then
    result = 'CONFLICT'
elseif id and (present or attributes ~= '') then
    result, present = 'CHANGED', nil
    if attributes ~= '' then
        local finish = duration == '0' and 0 or now + tonumber(duration)
        keep(string.format('%s %.0f %.0f %s', id, math.max(now, newest + 1), finish, attributes), finish)
    end
end
if present then
    keep(present[1], present[3])
end

local value = table.concat(lines, '\n')
if result == 'CHANGED' or ended > 0 or set_back then
    -- A reading also succeeds where nothing can be written: what has ended is then removed by a later one.
    local write = result == 'CHANGED' and redis.call or redis.pcall
    local reply
    if value == '' then
        reply = write('DEL', key)
    else
        reply = write('SET', key, value)
        if longest < math.huge then
            write('PEXPIRE', key, string.format('%.0f', math.ceil((longest - now) / 1000) + 1000))
        end
    end
    if type(reply) == 'table' and reply.err then ended = 0 end
end
local published = result == 'CHANGED' and ARGV[5] and redis.pcall('PUBLISH', ARGV[5], ARGV[6])
local failure = type(published) == 'table' and ' unpublished' or ''
return string.format('%.0f %s %.0f %d%s\n%s', now, result, version, ended, failure, value)
