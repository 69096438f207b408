-- Tries the part of an algorithm of an application, without a key.
--   ARGV  name; then nothing, to run each of its functions on a few states
--         or function, capacity, permits, micros, used, since, rest, now, and what else the function needs
--   reply what the function returns; an error says what is wrong
--
-- takes: begin own_algorithm
-- leaves: check_algorithm

local function check_algorithm(ARGV)
  begin()
  local own = own_algorithm(ARGV[1])
  local function state_of(capacity, permits, micros, used, since, rest)
    local rule = {capacity = capacity, permits = permits, micros = micros, algorithm = own}
    return {rule = rule, used = used, since = since, rest = rest, leased = 0}
  end
  if ARGV[2] then
    local n = {}
    for i = 3, #ARGV do n[i] = tonumber(ARGV[i]) end
    local state = state_of(n[3], n[4], n[5], n[6], n[7], n[8])
    local bucket = {own = state, now = n[9]}
    if ARGV[2] == 'used' or ARGV[2] == 'reset_after' then return {own[ARGV[2]](state, bucket)} end
    if ARGV[2] == 'time_until' then return {own.time_until(state, bucket, n[10])} end
    if ARGV[2] == 'refund' then own.grant(state, bucket, n[10]) else own[ARGV[2]](state, bucket, n[10]) end
    return {state.used, state.since, state.rest}
  end
  local now = 1800000000000000
  local state = state_of(20, 1, 100000, 0, now, 0)
  local bucket = {own = state, now = now}
  own.try(state, bucket, 1)
  own.try(state, bucket, 20)
  own.take(state, bucket, 20)
  own.try(state, bucket, 1)
  bucket.now = now + 50000
  own.recover(state, bucket)
  own.try(state, bucket, 1)
  bucket.now = now + 250000
  own.recover(state, bucket)
  own.try(state, bucket, 1)
  own.force(state, bucket, 30)
  own.try(state, bucket, 1)
  own.grant(state, bucket, 5)
  own.recover(state, bucket)
  bucket.now = now + 1000000000000
  own.recover(state, bucket)
  return {state.used, state.since, state.rest}
end
