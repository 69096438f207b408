-- Notes or reads the keys that limits reject most: a script of its own.
--
-- Each key is a hash of one limit. ARGV is empty to read that of KEYS[1], or the id of an instance, and for each of KEYS
-- what the instance reports. A report replaces the last one of the instance, and counts for 90 seconds.
--
-- Returns the id of each instance, and what it reports.
local EXPIRY = 90000000
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function isOld(report)
    local since = tonumber(string.match(report, '^%d+'))
    return not since or now - since > EXPIRY
end

if #ARGV == 0 then
    local all, reports = redis.call('HGETALL', KEYS[1]), {}
    for i = 1, #all, 2 do
        if not isOld(all[i + 1]) then
            reports[#reports + 1] = all[i]
            reports[#reports + 1] = all[i + 1]
        end
    end
    return reports
end
for i, key in ipairs(KEYS) do
    local first = redis.call('HSET', key, ARGV[1], string.format('%.0f %s', now, ARGV[i + 1])) == 1
    redis.call('PEXPIRE', key, EXPIRY / 1000)
    if first then
        local all = redis.call('HGETALL', key)
        for j = 1, #all, 2 do
            if isOld(all[j + 1]) then
                redis.call('HDEL', key, all[j])
            end
        end
    end
end
return {}
