-- Used permits come back all at once, when the window that opened with the first of them ends: rule.micros after it.

local fixed_window = {}

function fixed_window.recover(bucket, rule)
  if bucket.used == 0 or bucket.now - bucket.since >= rule.micros then
    bucket.used, bucket.since = 0, bucket.now
  end
  bucket.fraction = 0
end

function fixed_window.time_until(_, bucket, rule)
  return bucket.since + rule.micros - bucket.now
end

algorithms.FIXED_WINDOW = fixed_window
