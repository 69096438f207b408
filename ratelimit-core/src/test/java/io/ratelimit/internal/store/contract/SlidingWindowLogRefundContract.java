package io.ratelimit.internal.store.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.LimitKind;
import io.ratelimit.testing.TestRandom;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is refunded by one of two logs of a bucket is gone from both, because they share the entry. */
@BothTiers
public abstract class SlidingWindowLogRefundContract extends StoreContract {

    private static final long MINUTE = 60_000_000;

    private final RateLimit ten = LimitKind.SLIDING_WINDOW_LOG.limit("log", 10, "10/h");

    private static RateLimit larger(String rate) {
        return LimitKind.SLIDING_WINDOW_LOG.limit("log", 20, rate);
    }

    @ParameterizedTest
    @ValueSource(strings = {"20/h", "20/10m", "20/d"})
    void bothLogsAreAsIfTheCallHadNeverBeen(String rate) {
        RateLimit larger = larger(rate);
        for (RateLimit caller : new RateLimit[] {ten, larger}) {
            BucketTwins twins = new BucketTwins(store, clock);
            twins.take(ten, 1);
            twins.take(larger, 2);
            clock.advance(MINUTE);
            twins.takeForAMoment(caller, 3);
            clock.advance(1);
            twins.take(ten, 1);
            twins.take(larger, 2);
            clock.advance(1);
            twins.refund();
            for (long window : new long[] {10 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE}) {
                long now = clock.micros();
                for (long begin : new long[] {MINUTE, 0}) {
                    for (int aside = -3; aside <= 1; aside++) {
                        clock.set(now + window - begin + aside);
                        twins.assertAlike(ten);
                        twins.assertAlike(larger);
                    }
                }
                clock.set(now);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"20/h", "20/10m", "20/d"})
    void bothLogsAreAsIfTheCallHadNeverBeenWhateverWasTaken(String rate) {
        Random random = TestRandom.create(getClass());
        RateLimit[] rules = {ten, larger(rate)};
        for (int i = 0; i < TestRandom.cases(100); i++) {
            BucketTwins twins = new BucketTwins(store, clock);
            twins.take(rules[0], 1);
            twins.take(rules[1], 1);
            take(twins, rules, random, 20 * MINUTE);
            RateLimit caller = rules[random.nextInt(2)];
            assertThat(twins.takeForAMoment(caller, 1 + random.nextInt(2))).isTrue();
            take(twins, rules, random, 3 * MINUTE);
            twins.refund();
            for (int look = 0; look < 6; look++) {
                twins.assertAlike(rules[0]);
                twins.assertAlike(rules[1]);
                clock.advance(random.nextLong(20 * MINUTE));
            }
        }
    }

    /** So few that no log is cut. */
    private void take(BucketTwins twins, RateLimit[] rules, Random random, long most) {
        for (int call = 0; call < 2; call++) {
            twins.take(rules[random.nextInt(2)], random.nextInt(2));
            clock.advance(random.nextLong(most));
        }
    }
}
