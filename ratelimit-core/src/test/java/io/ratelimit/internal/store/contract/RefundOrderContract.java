package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Refund;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.reference.ReferenceStore;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Whatever the order in which calls are refunded, each gets what is still out of it, and no permit of another. */
@BothTiers
public abstract class RefundOrderContract extends StoreContract {

    /** Of each kind; at full scale more than 100,000 decisions. */
    private static final int GAMES = TestRandom.cases(250);

    private static final int CALLS = 100;

    private final Random random = TestRandom.create(getClass());

    private final List<String> log = new ArrayList<>();

    private RateLimitStore reference;

    private String key;

    private void start(String newKey) {
        clock.set(TestClock.TODAY + random.nextLong(1_000_000_000));
        reference = new ReferenceStore(clock);
        key = newKey;
        log.clear();
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "TOKEN_BUCKET",
                "TOKEN_BUCKET_WITH_WAIT",
                "TOKEN_BUCKET_BY_INTERVALS",
                "LEAKY_BUCKET",
                "LEAKY_BUCKET_WITH_WAIT"
            })
    void refundsReturnExactlyWhatIsOutInAnyOrder(LimitKind kind) {
        for (int game = 0; game < GAMES; game++) {
            start("exact" + game);
            RateLimit limit = limit(kind);
            List<Call> calls = new ArrayList<>();
            for (int i = 0; i < CALLS; i++) {
                Charge charge = new Charge(limit, key, permits(limit));
                Call call = call(charge);
                assertThat(call.decision()).as("%s", log).isEqualTo(call.expected());
                calls.add(call);
                while (random.nextInt(3) == 0) {
                    refundOne(calls);
                    assertThat(peekAt(store, limit)).as("%s", log).isEqualTo(peekAt(reference, limit));
                }
                advance(limit);
            }
        }
    }

    /** More gaps between the permits in use than a bucket records. */
    @Test
    void refundsNeverReturnMoreThanIsOut() {
        for (int game = 0; game < 1 + GAMES / 10; game++) {
            start("many" + game);
            RateLimit limit = LimitKind.TOKEN_BUCKET.limit(
                    "many", 150, (1 + random.nextInt(150)) + "/" + (1 + random.nextInt(7)) + "s");
            long permit = limit.numbers().reducedRate().timeOf(1, 0);
            List<Call> calls = new ArrayList<>();
            for (int i = 0; i < 3 * CALLS; i++) {
                Charge charge = new Charge(limit, key, 1 + random.nextInt(2));
                StoreOutcome outcome = decide(store, charge);
                log.add(clock.micros() + " " + outcome.decision());
                if (outcome.decision().allowed()) {
                    StoreOutcome expected = decide(reference, charge);
                    assertThat(expected.decision().allowed()).as("%s", log).isTrue();
                    calls.add(new Call(
                            charge, outcome.decision(), expected.decision(), outcome.refund(), expected.refund()));
                }
                if (i > CALLS) {
                    log.add(clock.micros() + " refund");
                    int least = random.nextBoolean() ? 0 : Math.max(0, firstOut(calls) - 1);
                    calls.remove(Math.min(calls.size() - 1, least + random.nextInt(least == 0 ? calls.size() : 4)))
                            .undo();
                    clock.advance(random.nextLong(2 * permit));
                }
                RateLimitDecision ours = peekAt(store, limit);
                RateLimitDecision theirs = peekAt(reference, limit);
                assertThat(ours.remaining()).as("%s", log).isLessThanOrEqualTo(theirs.remaining());
                assertThat(ours.resetAfter()).as("%s", log).isGreaterThanOrEqualTo(theirs.resetAfter());
            }
        }
    }

    /** The refund of the first lets the second come back earlier than at its time, and then it must not be refunded. */
    @Test
    void refundAfterAnEarlierOneReturnsNothingThatIsBack() {
        start("back");
        RateLimit limit = LimitKind.TOKEN_BUCKET.limit("back", 6, "1/s");
        Call first = call(new Charge(limit, key, 3));
        Call second = call(new Charge(limit, key, 3));
        first.undo();
        clock.advance(3 * SECOND);
        call(new Charge(limit, key, 5));
        clock.advance(SECOND / 2);
        second.undo();
        assertThat(peekAt(store, limit).remaining()).isEqualTo(1);
    }

    private RateLimit limit(LimitKind kind) {
        long capacity = 1 + random.nextLong(8);
        long permits = 1 + random.nextLong(capacity);
        return kind.limit("any", capacity, permits + "/" + (1 + random.nextInt(7)) + "s");
    }

    private long permits(RateLimit limit) {
        return random.nextInt(3) > 0 ? 1 : 1 + random.nextLong(limit.capacity());
    }

    private void advance(RateLimit limit) {
        long permit = limit.numbers().reducedRate().timeOf(1, 0);
        clock.advance(
                switch (random.nextInt(8)) {
                    case 0, 1, 2 -> 0;
                    case 3 -> random.nextLong(3);
                    case 4 -> permit;
                    case 5 -> TestClock.inMicros(limit.rate().period()) - random.nextInt(2);
                    case 6 -> random.nextInt(4) == 0 ? random.nextLong(2 * limit.fullMicros()) : 0;
                    default -> random.nextLong(2 * permit);
                });
    }

    private Call call(Charge charge) {
        StoreOutcome outcome = decide(store, charge);
        StoreOutcome expected = decide(reference, charge);
        log.add(clock.micros() + " " + charge.limit() + " " + charge.permits() + " " + outcome.decision());
        return new Call(charge, outcome.decision(), expected.decision(), outcome.refund(), expected.refund());
    }

    private static StoreOutcome decide(RateLimitStore store, Charge charge) {
        return store.decide(StoreRequest.refundable(List.of(charge)))
                .toStage()
                .toCompletableFuture()
                .join();
    }

    /** Mostly of late. */
    private void refundOne(List<Call> calls) {
        if (!calls.isEmpty()) {
            int number = Math.max(0, calls.size() - 1 - random.nextInt(random.nextBoolean() ? 12 : 120));
            log.add(clock.micros() + " refund " + number);
            calls.remove(number).undo();
        }
    }

    private int firstOut(List<Call> calls) {
        RateLimit limit = calls.get(0).charge().limit();
        long out = limit.capacity() - peekAt(reference, limit).remaining();
        int first = calls.size();
        while (first > 0 && out > 0) {
            first--;
            out -= calls.get(first).charge().permits();
        }
        return first;
    }

    private RateLimitDecision peekAt(RateLimitStore which, RateLimit limit) {
        return which.decide(StoreRequest.peek(new Charge(limit, key, 0)))
                .await()
                .decision();
    }

    /** One call, in the store and in the reference. */
    private record Call(
            Charge charge,
            RateLimitDecision decision,
            RateLimitDecision expected,
            Refund refund,
            Refund expectedRefund) {

        void undo() {
            refund.refund(List.of(charge)).toCompletableFuture().join();
            expectedRefund.refund(List.of(charge)).toCompletableFuture().join();
        }
    }
}
