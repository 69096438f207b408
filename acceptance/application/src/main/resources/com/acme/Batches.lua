-- See Batches.java.

local function quotient(a, b) return (a - a % b) / b end

local function period(rule)
  return quotient(rule.capacity * rule.micros + rule.permits - 1, rule.permits)
end

return {
  recover = function(rule, used, since, _, now)
    local periods = quotient(now - since, period(rule))
    local left = periods >= used and 0 or math.max(0, used - periods * rule.capacity)
    if left == 0 then return 0, now, 0 end
    return left, since + periods * period(rule), 0
  end,

  time_until = function(rule, used, since, _, now, most)
    return since + (quotient(used - most - 1, rule.capacity) + 1) * period(rule) - now
  end,
}
