package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;

/** A bucket that lacks something for a moment, and one that is used alike but for that. */
final class BucketTwins {

    private static final AtomicInteger PAIRS = new AtomicInteger();

    private final TestClock clock;

    private final RateLimitStore store;

    private final int number = PAIRS.incrementAndGet();

    private final String bucket = "bucket" + number;

    private final String twin = "twin" + number;

    private Charge taken;

    private Refund refund;

    private long takenAt;

    private long moment;

    private long backAfter;

    BucketTwins(RateLimitStore store, TestClock clock) {
        this.store = store;
        this.clock = clock;
    }

    /** Of both, if the bucket has them; the twin has no less. */
    void take(RateLimit limit, long permits) {
        if (take(bucket, limit, permits).allowed()) {
            assertThat(take(twin, limit, permits).allowed()).isTrue();
        }
    }

    boolean takeForAMoment(RateLimit limit, long permits) {
        takenAt = clock.micros();
        taken = new Charge(limit, bucket, permits);
        StoreOutcome decided = store.decide(StoreRequest.refundable(List.of(taken)))
                .toStage()
                .toCompletableFuture()
                .join();
        refund = decided.refund();
        RateLimitDecision decision = decided.decisions().get(0);
        backAfter = TestClock.inMicros(decision.resetAfter());
        return decision.allowed();
    }

    void refund() {
        refund.refund(List.of(taken)).toCompletableFuture().join();
        moment = clock.micros() - takenAt;
    }

    /** Whether all of it was back when it was to be refunded: then nothing could be undone any more. */
    boolean cameTooLate() {
        return moment >= backAfter;
    }

    void assertAlike(RateLimit limit) {
        Looks ofBucket = new Looks(bucket, limit);
        Looks ofTwin = new Looks(twin, limit);
        assertThat(ofBucket.decisions()).as("%s", limit).isEqualTo(ofTwin.decisions());
    }

    /** Looks that are under way at the same time, so that a store can answer them together. */
    private final class Looks {

        private final List<CompletableFuture<RateLimitDecision>> answers;

        Looks(String key, RateLimit limit) {
            answers = LongStream.of(0, 1, limit.capacity() / 2 + 1, limit.capacity())
                    .mapToObj(permits -> store.decide(StoreRequest.peek(new Charge(limit, key, permits)))
                            .toStage()
                            .thenApply(StoreOutcome::decision)
                            .toCompletableFuture())
                    .toList();
        }

        List<RateLimitDecision> decisions() {
            return answers.stream().map(CompletableFuture::join).toList();
        }
    }

    /** Nothing is earlier than without the call, nor later than by that moment and what is allowed beside it. */
    void assertNothingIsGiven(RateLimit limit, long later) {
        RateLimitDecision ours = look(bucket, limit, 0);
        RateLimitDecision theirs = look(twin, limit, 0);
        assertThat(ours.remaining()).as("%s", limit).isLessThanOrEqualTo(theirs.remaining());
        assertThat(TestClock.inMicros(ours.resetAfter()))
                .as("%s", limit)
                .isBetween(
                        TestClock.inMicros(theirs.resetAfter()),
                        TestClock.inMicros(theirs.resetAfter()) + moment + later);
    }

    /** Until the bucket is as if never used. */
    long resetMicros(RateLimit limit) {
        return TestClock.inMicros(look(bucket, limit, 0).resetAfter());
    }

    private RateLimitDecision take(String key, RateLimit limit, long permits) {
        return store.decide(new Charge(limit, key, permits)).await().decision();
    }

    private RateLimitDecision look(String key, RateLimit limit, long permits) {
        return store.decide(StoreRequest.peek(new Charge(limit, key, permits)))
                .await()
                .decision();
    }
}
