-- S: counts in windows of rule.micros aligned to the epoch. Of the previous window's count that share is used that is
-- still in view, which is to say within rule.micros from now.
--   used   the present window's count
--   since  when it began
--   rest   the previous window's count

function kinds.S()
  local sliding_window = {take = use, witness = use}

  -- a * b / m rounded down, and the remainder. Digit by digit where the product does not fit; a is below 2^30, b and m
  -- are below 2^52.
  local function multiply_and_divide(a, b, m)
    if a * b < 2 ^ 53 then return quotient(a * b, m), a * b % m end
    local result, remainder = a * quotient(b, m), 0
    local digits, bit = 0, 2 ^ 29
    b = b % m
    while bit >= 1 do
      digits, remainder = 2 * digits, 2 * remainder
      if remainder >= m then digits, remainder = digits + 1, remainder - m end
      if a >= bit then
        a, remainder = a - bit, remainder + b
        if remainder >= m then digits, remainder = digits + 1, remainder - m end
      end
      bit = bit / 2
    end
    return result + digits, remainder
  end

  function sliding_window.recover(section, bucket)
    local start = bucket.now - bucket.now % section.rule.micros
    if start == section.since then return end
    section.rest = start - section.since == section.rule.micros and section.used or 0
    section.used, section.since = 0, start
  end

  function sliding_window.used(section, bucket)
    if section.rest == 0 then return section.used end
    local micros = section.rule.micros
    local whole, part = multiply_and_divide(section.rest, section.since + micros - bucket.now, micros)
    return section.used + whole + (part > 0 and 1 or 0)
  end

  function sliding_window.time_until(section, bucket, most)
    local micros = section.rule.micros
    local left, room = section.since + micros - bucket.now, most - section.used
    if room < 0 then
      -- In the next window, where this one is the previous.
      return left + micros - multiply_and_divide(most, micros, section.used)
    end
    if section.rest <= room then return 0 end
    return math.max(0, left - multiply_and_divide(room, micros, section.rest))
  end

  function sliding_window.rarely()
    function sliding_window.adopt(section, bucket, other)
      local rule = section.rule
      if other.rule.kind == sliding_window and other.rule.micros == rule.micros then
        section.used, section.since = math.min(other.used, rule.capacity), other.since
        section.rest = math.min(other.rest, rule.capacity)
      else
        section.used = math.min(other.rule.kind.used(other, bucket), rule.capacity)
        section.since = bucket.now - bucket.now % rule.micros
      end
    end

    function sliding_window.give_back(section, _, permits, receipt)
      if section.since == receipt.since then
        section.used = math.max(0, section.used - permits)
      elseif section.since - receipt.since == section.rule.micros then
        section.rest = math.max(0, section.rest - permits)
      end
    end
  end

  return sliding_window
end
