-- See FasterByNight.java, which sets from, night and factor.

local DAY = 86400000000

local function quotient(a, b)
  return (a - a % b) / b
end

local function quotient_up(a, b)
  return quotient(a + b - 1, b)
end

local function nights_before(time)
  return quotient(time - from, DAY) * night + math.min((time - from) % DAY, night)
end

local function state(rule, missing, now)
  return quotient_up(missing, rule.micros), now, missing
end

return {
  recover = function(rule, _, since, rest, now)
    local stretched = now - since + (factor - 1) * (nights_before(now) - nights_before(since))
    if stretched >= quotient_up(rest, rule.permits) then return 0, now, 0 end
    return state(rule, rest - stretched * rule.permits, now)
  end,

  take = function(rule, _, _, rest, now, permits)
    return state(rule, rest + permits * rule.micros, now)
  end,

  refund = function(rule, _, _, rest, now, permits)
    return state(rule, math.max(0, rest - permits * rule.micros), now)
  end,

  time_until = function(rule, _, _, rest, now, most)
    local stretched = quotient_up(rest - most * rule.micros, rule.permits)
    local stretched_day = DAY + (factor - 1) * night
    local time, left, at = quotient(stretched, stretched_day) * DAY, stretched % stretched_day, (now - from) % DAY
    while true do
      local speed = at < night and factor or 1
      local length = (at < night and night or DAY) - at
      if left <= length * speed then return time + quotient_up(left, speed) end
      left, time = left - length * speed, time + length
      at = at < night and night or 0
    end
  end,
}
