package io.ratelimit.internal.store.failover;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.OnStoreFailure;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.LocalShare;
import io.ratelimit.internal.memory.InMemoryRateLimitStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import io.ratelimit.testing.TestSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is admitted if an application of two instances grows to twenty while Redis is away: the table in {@code docs/kubernetes.md}. */
class ScalingInOutageTests {

    private static final int BEFORE = 2;

    private static final int AFTER = 20;

    private static final int CAPACITY = 240;

    /** Fills the bucket in a minute. */
    private static final int PERMITS_A_SECOND = 4;

    private static final long STEP = 250;

    private static final Duration OUTAGE = Duration.ofMinutes(10);

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    /** @param limits how often the whole limit is admitted, in the long run and at most */
    @ParameterizedTest
    @CsvSource({"auto, 19", "2, 10", "5, 4", "10, 2", "20, 1", "1, 20"})
    void newInstancesExpectWhatIsConfigured(String expected, int limits) {
        RateLimit limit = TestSettings.of(false, OnStoreFailure.LOCAL, LocalShare.parse(expected), Map.of())
                .apply(RateLimit.named("quotes").capacity(CAPACITY).rate(PERMITS_A_SECOND + "/s"));
        List<RateLimitStore> instances = new ArrayList<>();
        IntStream.range(0, BEFORE).forEach(i -> instances.add(instance(BEFORE)));
        long admitted = 0;
        for (long millis = 0; millis < OUTAGE.toMillis(); millis += STEP) {
            // One more each second; each instance is asked for more than the whole limit.
            if (instances.size() < AFTER && millis % 1_000 == 0) {
                instances.add(instance(0));
            }
            for (RateLimitStore instance : instances) {
                admitted += admitted(instance, new Charge(limit, "key", 1 + random.nextInt(3)));
            }
            clock.advance(Duration.ofMillis(STEP));
        }
        long once = CAPACITY + PERMITS_A_SECOND * OUTAGE.toSeconds();
        assertThat(admitted).isBetween(once * limits * 9 / 10, once * limits);
    }

    private static long admitted(RateLimitStore instance, Charge charge) {
        boolean allowed = instance.decide(StoreRequest.of(List.of(charge)))
                .await()
                .decision()
                .allowed();
        return allowed ? charge.permits() : 0;
    }

    /** @param counted as the instance has learned when Redis was there; 0: it was not since its start */
    private RateLimitStore instance(int counted) {
        return new LocalShareStore(new InMemoryRateLimitStore(clock, 100), () -> counted);
    }
}
