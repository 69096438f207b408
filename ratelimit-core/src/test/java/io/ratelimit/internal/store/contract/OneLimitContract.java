package io.ratelimit.internal.store.contract;

import static io.ratelimit.testing.TestLimits.fixedWindow;
import static io.ratelimit.testing.TestLimits.tokenBucket;
import static java.time.Duration.ZERO;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.spi.BucketChange;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreRequest;
import org.junit.jupiter.api.Test;

/** One limit, by the examples that anybody can check by hand. */
public abstract class OneLimitContract extends StoreContract {

    private final RateLimit bucket = tokenBucket("bucket", 20, "10/s");

    private final RateLimit window = fixedWindow("window", 20, "10/s");

    @Test
    void startsFull() {
        assertThat(peek(bucket, 20)).isEqualTo(allowed(20, 20, ZERO));
        assertThat(peek(window, 20)).isEqualTo(allowed(20, 20, ZERO));
    }

    @Test
    void tokenBucketRefillsEvenly() {
        assertThat(take(bucket, 20)).isEqualTo(allowed(20, 0, ofSeconds(2)));
        assertThat(take(bucket, 1)).isEqualTo(rejected(20, 0, ofMillis(100), ofSeconds(2)));
        clock.advance(ofMillis(250));
        assertThat(take(bucket, 1)).isEqualTo(allowed(20, 1, ofMillis(1_850)));
        clock.advance(ofMillis(1_850));
        assertThat(peek(bucket, 20)).isEqualTo(allowed(20, 20, ZERO));
    }

    @Test
    void fixedWindowRefillsAtItsEnd() {
        assertThat(take(window, 19)).isEqualTo(allowed(20, 1, ofSeconds(2)));
        clock.advance(2 * SECOND - 1);
        assertThat(take(window, 2)).isEqualTo(rejected(20, 1, ofNanos(1_000), ofNanos(1_000)));
        clock.advance(1);
        assertThat(take(window, 2)).isEqualTo(allowed(20, 18, ofSeconds(2)));
    }

    @Test
    void fixedWindowOpensWithTheFirstCallThatTakesSomething() {
        take(window, 0);
        take(window, 21);
        clock.advance(SECOND);
        assertThat(take(window, 1)).isEqualTo(allowed(20, 19, ofSeconds(2)));
    }

    @Test
    void retryAfterIsExact() {
        RateLimit thirds = tokenBucket("thirds", 2, "3/7s");
        take(thirds, 2);
        RateLimitDecision rejected = take(thirds, 1);
        assertThat(rejected.retryAfter()).isEqualTo(ofNanos(2_333_334_000L));
        clock.advance(2_333_333);
        assertThat(peek(thirds, 1).allowed()).isFalse();
        clock.advance(1);
        assertThat(take(thirds, 1).allowed()).isTrue();
    }

    @Test
    void rejectionConsumesNothing() {
        take(bucket, 15);
        assertThat(take(bucket, 6).allowed()).isFalse();
        assertThat(take(bucket, 5).allowed()).isTrue();
    }

    @Test
    void noPermitsAreFree() {
        assertThat(take(bucket, 0)).isEqualTo(allowed(20, 20, ZERO));
        take(bucket, 20);
        assertThat(take(bucket, 0)).isEqualTo(allowed(20, 0, ofSeconds(2)));
        clock.advance(ofMillis(150));
        assertThat(take(bucket, 0)).isEqualTo(allowed(20, 1, ofMillis(1_850)));
        assertThat(take(bucket, 1)).isEqualTo(allowed(20, 0, ofMillis(1_950)));
    }

    @Test
    void moreThanTheCapacityNeverSucceeds() {
        assertThat(take(bucket, 21)).isEqualTo(rejected(20, 20, null, ZERO));
        assertThat(take(bucket, Long.MAX_VALUE)).isEqualTo(rejected(20, 20, null, ZERO));
        take(window, 1);
        assertThat(take(window, 21)).isEqualTo(rejected(20, 19, null, ofSeconds(2)));
    }

    @Test
    void peekChangesNothing() {
        take(bucket, 19);
        RateLimitDecision first = peek(bucket, 1);
        assertThat(first).isEqualTo(allowed(20, 1, ofMillis(1_900)));
        assertThat(peek(bucket, 1)).isEqualTo(first);
        assertThat(take(bucket, 1).allowed()).isTrue();
        assertThat(peek(bucket, 1)).isEqualTo(rejected(20, 0, ofMillis(100), ofSeconds(2)));
    }

    @Test
    void resetForgetsOneBucket() {
        take(bucket, 20);
        take(window, 20);
        store.change(bucket, KEY, BucketChange.RESET).toCompletableFuture().join();
        assertThat(remaining(bucket)).isEqualTo(20);
        assertThat(remaining(window)).isZero();
    }

    @Test
    void callersAndLimitsDoNotShareBuckets() {
        take(bucket, 20);
        RateLimit other = tokenBucket("other", 20, "10/s");
        assertThat(remaining(other)).isEqualTo(20);
        for (String key : new String[] {"bob", "Alice", "", null}) {
            assertThat(store.decide(StoreRequest.peek(new Charge(bucket, key, 0)))
                            .await()
                            .decision()
                            .remaining())
                    .isEqualTo(20);
        }
    }

    @Test
    void spellingsOfOneNameShareTheirBuckets() {
        take(bucket, 20);
        assertThat(remaining(tokenBucket("Buck-Et", 20, "10/s"))).isZero();
    }
}
