package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.TestClock;

/** A bucket of which something is taken for a moment, and one that is used alike but for that. */
final class BucketTwins {

    private final TestClock clock;

    private final ScriptBucket bucket;

    private final ScriptBucket twin;

    private long takenAt;

    private long moment;

    private long backAfter;

    BucketTwins(RateLimitScriptExecutor executor, TestClock clock) {
        this.clock = clock;
        this.bucket = new ScriptBucket(executor);
        this.twin = new ScriptBucket(executor);
    }

    /** Of both, if the bucket has them; the twin has no less. */
    void take(RateLimit limit, long permits) {
        if (bucket.take(limit, permits).allowed()) {
            assertThat(twin.take(limit, permits).allowed()).isTrue();
        }
    }

    boolean takeForAMoment(RateLimit limit, long permits) {
        takenAt = clock.micros();
        RateLimitDecision decision = bucket.takeForAMoment(limit, permits);
        backAfter = TestClock.inMicros(decision.resetAfter());
        return decision.allowed();
    }

    void giveBack() {
        bucket.giveBack();
        moment = clock.micros() - takenAt;
    }

    /** Whether all of it was back when it was to be given back: then nothing could be undone any more. */
    boolean cameTooLate() {
        return moment >= backAfter;
    }

    void assertAlike(RateLimit limit) {
        for (long permits : new long[] {0, 1, limit.capacity() / 2 + 1, limit.capacity()}) {
            assertThat(bucket.look(limit, permits)).as("%s", limit).isEqualTo(twin.look(limit, permits));
        }
    }

    /** Nothing is earlier than without the call, nor later than by that moment and what is allowed beside it. */
    void assertNothingIsGiven(RateLimit limit, long later) {
        RateLimitDecision ours = bucket.look(limit, 0);
        RateLimitDecision theirs = twin.look(limit, 0);
        assertThat(ours.remaining()).as("%s", limit).isLessThanOrEqualTo(theirs.remaining());
        assertThat(TestClock.inMicros(ours.resetAfter()))
                .as("%s", limit)
                .isBetween(
                        TestClock.inMicros(theirs.resetAfter()),
                        TestClock.inMicros(theirs.resetAfter()) + moment + later);
    }

    /** Until the bucket is as if never used. */
    long resetMicros(RateLimit limit) {
        return TestClock.inMicros(bucket.look(limit, 0).resetAfter());
    }
}
