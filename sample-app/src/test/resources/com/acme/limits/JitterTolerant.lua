-- See JitterTolerant.java, which sets tolerance_micros.

local function quotient_up(a, b)
  local sum = a + b - 1
  return (sum - sum % b) / b
end

local function tolerance(rule)
  return math.min(tolerance_micros * rule.permits, rule.micros - 1)
end

local function state(rule, level, now)
  return quotient_up(level, rule.micros), now, level
end

return {
  recover = function(rule, _, since, rest, now)
    local elapsed = now - since
    if elapsed >= quotient_up(rest, rule.permits) then return 0, now, 0 end
    return state(rule, rest - elapsed * rule.permits, now)
  end,

  used = function(rule, _, _, rest)
    return quotient_up(math.max(0, rest - tolerance(rule)), rule.micros)
  end,

  take = function(rule, _, _, rest, now, permits)
    return state(rule, rest + permits * rule.micros, now)
  end,

  refund = function(rule, _, _, rest, now, permits)
    return state(rule, math.max(0, rest - permits * rule.micros), now)
  end,

  time_until = function(rule, _, _, rest, _, most)
    return quotient_up(rest - tolerance(rule) - most * rule.micros, rule.permits)
  end,

  reset_after = function(rule, _, _, rest)
    return quotient_up(rest, rule.permits)
  end,
}
