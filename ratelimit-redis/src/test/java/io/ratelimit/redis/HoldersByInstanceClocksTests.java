package io.ratelimit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimit;
import io.ratelimit.redis.batch.DirectDispatcher;
import io.ratelimit.redis.store.HoldingInstance;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.StoreOutcome;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.BothTiers;
import io.ratelimit.testing.TestClock;
import io.ratelimit.testing.TestRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Calls hold permits on instances whose clocks differ, in place of a server's that refuses {@code TIME}. By the clock that is ahead,
 * permits of the other one have as much less of their hold left, which are two thirds before they are renewed.
 */
@BothTiers
class HoldersByInstanceClocksTests {

    private static final int CAPACITY = 5;

    @RegisterExtension
    static final RedisWithoutTime redis = new RedisWithoutTime();

    private final Random random = TestRandom.create(getClass());

    private final TestClock clock = new TestClock();

    private final String prefix = RedisUnderTest.newPrefix();

    private HoldingInstance instance(Duration ahead) {
        return new HoldingInstance(
                redis.instance(() -> clock.micros() + TestClock.inMicros(ahead)), clock, prefix, DirectDispatcher::new);
    }

    @ParameterizedTest
    @CsvSource({"PT30S, PT10S", "PT15.1S, PT10S", "PT3S, PT1.9S"})
    void runningCallsKeepTheirPermitsIfTheClocksDifferByLessThanTwoThirdsOfTheHold(Duration hold, Duration ahead) {
        RateLimit limit = RateLimit.named("exports")
                .algorithm(Algorithm.CONCURRENCY)
                .capacity(CAPACITY)
                .hold(hold)
                .build();
        List<HoldingInstance> instances = List.of(instance(Duration.ZERO), instance(ahead));
        List<StoreOutcome> running = new ArrayList<>();
        for (int step = 0; step < TestRandom.cases(1_000); step++) {
            HoldingInstance instance = instances.get(random.nextInt(2));
            switch (random.nextInt(10)) {
                case 0, 1 -> {
                    Duration time = Duration.ofMillis(random.nextLong(hold.toMillis() / 3));
                    clock.advance(time);
                    instances.forEach(each -> each.thread.pass(time));
                }
                case 2, 3, 4 -> {
                    if (!running.isEmpty()) {
                        HoldingInstance.release(running.remove(random.nextInt(running.size())));
                    }
                }
                default ->
                    Stream.of(instance.enter(new Charge(limit, "alice", 1 + random.nextInt(2))))
                            .filter(outcome -> outcome.decision().allowed())
                            .forEach(running::add);
            }
            long held = running.stream()
                    .mapToLong(outcome -> outcome.charges().get(0).permits())
                    .sum();
            StoreRequest peek = StoreRequest.peek(new Charge(limit, "alice", 0));
            assertThat(instances)
                    .allSatisfy(each -> assertThat(
                                    each.store.decide(peek).await().decision().remaining())
                            .isEqualTo(CAPACITY - held));
        }
        assertThat(instances).allSatisfy(each -> assertThat(each.lostPermits()).isZero());
    }
}
