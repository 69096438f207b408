-- Runs each function of the part of an application's algorithm on a few states. Behind the other parts, in a script of its own,
-- which writes no key.
--   ARGV  the name of the algorithm
--   reply is empty: a driver that blocks cannot read none. An error says what is wrong
name_functions()
local own = own_algorithm(ARGV[1])
local now = 1800000000000000
local state = new_state({capacity = 20, permits = 1, micros = 100000, algorithm = own}, now)
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
return {}
