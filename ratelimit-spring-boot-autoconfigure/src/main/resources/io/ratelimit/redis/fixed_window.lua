-- F: used permits come back all at once, when the window that opened with the first of them ends: rule.micros after it.
--   since  when the window opened

function kinds.F()
  local fixed_window = {used = number_used, take = use, witness = use}

  function fixed_window.recover(section, bucket)
    if section.used == 0 or bucket.now - section.since >= section.rule.micros then
      section.used, section.since = 0, bucket.now
    end
  end

  function fixed_window.time_until(section, bucket)
    return section.since + section.rule.micros - bucket.now
  end

  function fixed_window.rarely()
    function fixed_window.adopt(section, bucket, other)
      local rule, old = section.rule, other.rule
      section.used = math.min(old.kind.used(other, bucket), rule.capacity)
      -- In a shorter window what was taken late would be back too soon.
      if old.kind == fixed_window and old.micros <= rule.micros then section.since = other.since end
    end

    function fixed_window.give_back(section, bucket, permits, receipt)
      -- A window that began later is the same one if it has begun anew, because the call that opened it was undone.
      local later = section.since - receipt.since
      if later < 0 or later >= section.rule.micros then return end
      section.used = math.max(0, section.used - permits)
      -- The window that they have opened is not that of those who came later.
      if later == 0 and receipt.used == permits then section.since = bucket.now end
    end
  end

  return fixed_window
end
