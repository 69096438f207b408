-- I: used permits come back in batches of rule.permits, one at the end of each period of rule.micros microseconds. The
-- period starts with the call that takes from a full bucket.
--   since  when the present period began

function kinds.I()
  local interval = {has_pace = true, used = number_used, take = use, witness = use}

  local function batches(permits, rule)
    return quotient(permits + rule.permits - 1, rule.permits)
  end

  function interval.recover(section, bucket)
    local rule = section.rule
    local periods = quotient(bucket.now - section.since, rule.micros)
    if periods >= batches(section.used, rule) then
      section.used, section.since = 0, bucket.now
    else
      section.used, section.since = section.used - periods * rule.permits, section.since + periods * rule.micros
    end
  end

  function interval.time_until(section, bucket, most)
    local rule = section.rule
    return section.since + batches(section.used - most, rule) * rule.micros - bucket.now
  end

  function interval.rarely()
    function interval.adopt(section, bucket, other)
      local rule, old = section.rule, other.rule
      section.used = math.min(old.kind.used(other, bucket), rule.capacity)
      if old.kind == interval and old.permits == rule.permits and old.micros == rule.micros then
        section.since = other.since
      end
    end

    function interval.give_back(section, bucket, permits, receipt)
      local rule = section.rule
      if bucket.now >= receipt.since + batches(receipt.used, rule) * rule.micros then return end
      local out = receipt.used - quotient(section.since - receipt.since, rule.micros) * rule.permits
      -- Less is used where the bucket was reset since.
      out = math.min(out, section.used)
      section.used = section.used - math.min(permits, out)
      -- Nobody's from before is out: the period is not that of those who came later.
      if out <= permits then section.since = bucket.now end
    end
  end

  return interval
end
