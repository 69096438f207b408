-- F: used permits come back all at once, when the window that opened with the first of them ends: rule.micros after it.
--   since  when the window opened

function kinds.F()
  local fixed_window = {}

  function fixed_window.recover(section, bucket)
    if section.used == 0 or bucket.now - section.since >= section.rule.micros then
      section.used, section.since = 0, bucket.now
    end
  end

  function fixed_window.used(section)
    return section.used
  end

  function fixed_window.time_until(section, bucket)
    return section.since + section.rule.micros - bucket.now
  end

  function fixed_window.take(section, _, permits)
    section.used = math.min(section.used + permits, section.rule.capacity)
  end

  fixed_window.witness = fixed_window.take

  function fixed_window.adopt(section, bucket, other)
    section.used = math.min(other.rule.kind.used(other, bucket), section.rule.capacity)
    if other.rule.kind == fixed_window then section.since = other.since end
  end

  function fixed_window.give_back(section, _, permits, receipt)
    if section.since == receipt.since then section.used = math.max(0, section.used - permits) end
  end

  return fixed_window
end
