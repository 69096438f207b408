-- T: used permits come back one after the other, evenly: rule.permits of them every rule.micros microseconds.
--   since  when the next of them began to come back
--   rest   of the microsecond after since, in parts of the rule's permits

function kinds.T()
  local token_bucket = {has_pace = true, used = number_used}

  function token_bucket.prepare(rule)
    rule.part = rule.micros % rule.permits
    rule.whole = (rule.micros - rule.part) / rule.permits
  end

  local function tokens_in(elapsed, fraction, most, rule)
    return permits_in(elapsed, fraction, most, rule.whole, rule.part, rule.permits)
  end

  function token_bucket.recover(section, bucket)
    local rule = section.rule
    local back = tokens_in(bucket.now - section.since, section.rest, section.used, rule)
    if back == section.used then
      section.used, section.since, section.rest, section.leased = 0, bucket.now, 0, 0
      return
    end
    local rest = back * rule.part + section.rest
    section.used = section.used - back
    section.since = section.since + back * rule.whole + quotient(rest, rule.permits)
    section.rest = rest % rule.permits
  end

  function token_bucket.time_until(section, bucket, most)
    local rule = section.rule
    return section.since + time_of(section.used - most, section.rest, rule.whole, rule.part, rule.permits) - bucket.now
  end

  function token_bucket.take(section, _, permits)
    section.used = section.used + permits
  end

  function token_bucket.lease(section, bucket)
    section.leased = math.max(section.leased + 1, bucket.now + token_bucket.time_until(section, bucket, 0))
  end

  function token_bucket.rarely()
    -- What is reserved ahead stays.
    function token_bucket.witness(section, _, permits)
      section.used = section.used + math.max(0, math.min(permits, section.rule.capacity - section.used))
    end

    function token_bucket.adopt(section, bucket, other)
      local rule, old = section.rule, other.rule
      local used = old.kind.used(other, bucket)
      if old.kind == token_bucket and old.permits == rule.permits and old.micros == rule.micros
          and used <= rule.capacity then
        section.used, section.since, section.rest, section.leased = used, other.since, other.rest, other.leased
      else
        section.used = math.min(used, rule.capacity)
      end
    end

    -- Permits come back in the order in which they were taken. Returns how many of those in use are the receipt's or were
    -- taken before: they are back by the time at which the receipt's bucket was to be unused.
    local function out_before(receipt, section, rule)
      local rest = receipt.used * rule.part + receipt.rest
      local last = receipt.since + receipt.used * rule.whole + quotient(rest, rule.permits)
      local fraction = rest % rule.permits
      local out = tokens_in(math.max(0, last - section.since + 1), section.rest, section.used, rule)
      while out > 0 do
        rest = out * rule.part + section.rest
        local back = section.since + out * rule.whole + quotient(rest, rule.permits)
        if back < last or back == last and rest % rule.permits <= fraction then return out end
        out = out - 1
      end
      return 0
    end

    function token_bucket.give_back(section, bucket, permits, receipt)
      -- What was leased before or since may be used later than what is given back was: by the rule that has come back
      -- before it, or others go by when theirs was to. Only the last lease itself knows what of it nobody will use.
      if receipt.time < section.leased then return end
      local out = out_before(receipt, section, section.rule)
      if out > permits then
        section.used = section.used - permits
      elseif out > 0 then
        -- They were at the front: those behind them begin to come back now.
        section.used, section.since, section.rest = section.used - out, bucket.now, 0
      end
    end
  end

  return token_bucket
end
