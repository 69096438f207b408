-- Reads what all instances have counted: a script of its own.
--
-- KEYS[1] is a hash of the instances, KEYS[2] and so on are intervals. ARGV[1] is the id of the only limit to read, with the
-- counts of each instance; empty for all limits, without them.
--
-- Returns the time, the number of instances, for each its id and its note, and then the lines of each interval.
local time = redis.call('TIME')
local limit = ARGV[1]

local function line(lines)
    return string.match('\n' .. lines, '\n(' .. limit .. ' [^\n]*\n)') or ''
end

local notes = redis.call('HGETALL', KEYS[1])
local reply = {string.format('%.0f', time[1] * 1000000 + time[2]), tostring(#notes / 2)}
for i = 1, #notes, 2 do
    local about = string.match(notes[i + 1], '^[^\n]*\n?')
    reply[#reply + 1] = notes[i]
    reply[#reply + 1] = limit == '' and about or about .. line(notes[i + 1])
end
for i = 2, #KEYS do
    local lines = redis.call('GET', KEYS[i]) or ''
    reply[#reply + 1] = limit == '' and lines or line(lines)
end
return reply
