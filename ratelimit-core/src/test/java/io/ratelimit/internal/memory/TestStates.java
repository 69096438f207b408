package io.ratelimit.internal.memory;

import io.ratelimit.RateLimit;

/** States of buckets as tests want them. */
final class TestStates {

    private TestStates() {}

    /** Of a limit that remembers a number. */
    @SuppressWarnings("unchecked")
    static BucketState of(RateLimit limit, long used, long since) {
        Rule<CounterState> rule = (Rule<CounterState>) Rule.of(limit);
        return new BucketState(new RuleState<>(rule, new CounterState(used, since, 0)));
    }

    /** The number that a state of {@link #of} remembers. */
    static long used(BucketState state) {
        return ((CounterState) state.own().usage()).used();
    }

    /** A bucket's state; {@code null} of one that is forgotten. */
    static BucketState read(Bucket bucket) {
        return bucket.hold(Bucket::read);
    }

    /** Changes a bucket's state, unless it is forgotten. */
    static boolean write(Bucket bucket, BucketState next) {
        return hold(bucket, () -> bucket.write(next));
    }

    /** Does something while a bucket is held, unless it is forgotten. */
    static boolean hold(Bucket bucket, Runnable work) {
        Boolean done = bucket.hold(self -> {
            work.run();
            return true;
        });
        return done != null;
    }
}
