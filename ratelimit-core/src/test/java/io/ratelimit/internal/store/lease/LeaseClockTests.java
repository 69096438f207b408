package io.ratelimit.internal.store.lease;

import static io.ratelimit.internal.store.lease.LeasingInstances.window;
import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimit;
import io.ratelimit.internal.memory.ExactLeaseStore;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.StoreRequest;
import io.ratelimit.testing.TestClock;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The instance's clock and the server's do not show the same time: how many more are admitted than the limit allows. */
class LeaseClockTests {

    private static final Duration HOUR = Duration.ofHours(1);

    private final TestClock server = new TestClock();

    private final TestClock monotonic = new TestClock();

    private final TestClock wall = new TestClock();

    private final RateLimitStore store = new ExactLeaseStore(server);

    private final RateLimit limit = window("quotes", 100, 10);

    private LeasingRateLimitStore instance(LongSupplier nanos) {
        return new LeasingRateLimitStore(
                store, Duration.ofSeconds(20), nanos, new LeaseThread(monotonic), Runnable::run, 10);
    }

    /** An instance has leased 10, when time passes as others see it; then others, and the instance, take what they get. */
    private long admittedAfter(LeasingRateLimitStore instance, Runnable time) {
        while (limit.capacity()
                        - store.decide(StoreRequest.peek(new Charge(limit, "alice", 0)))
                                .await()
                                .decision()
                                .remaining()
                < 20) {
            LeasingInstances.take(instance, limit, 1);
        }
        time.run();
        long byOthers = admitted(store);
        return byOthers + admitted(instance);
    }

    private long admitted(RateLimitStore from) {
        return IntStream.range(0, 200)
                .filter(call -> LeasingInstances.take(from, limit, 1).allowed())
                .count();
    }

    private LongSupplier nanos(TestClock clock) {
        return () -> clock.micros() * 1_000;
    }

    @Test
    void pauseThatTheWallClockShowsEndsALease() {
        LeasingRateLimitStore instance = instance(new PauseCountingClock(nanos(monotonic), nanos(wall)));
        assertThat(admittedAfter(instance, () -> {
                    server.advance(HOUR);
                    wall.advance(HOUR);
                }))
                .isEqualTo(limit.capacity());
    }

    /** Such as that of a virtual machine whose clocks both stand still, until its time is set. */
    @Test
    void pauseThatNoClockShowsAdmitsNoMoreThanWhatIsLeased() {
        LeasingRateLimitStore instance = instance(new PauseCountingClock(nanos(monotonic), nanos(wall)));
        assertThat(admittedAfter(instance, () -> server.advance(HOUR)))
                .isBetween(limit.capacity() + 1, limit.capacity() + limit.lease());
    }

    /** To the instance, a failover to a server whose clock is ahead is the same. */
    @Test
    void serverWhoseClockIsAheadAdmitsNoMoreThanWhatIsLeased() {
        LeasingRateLimitStore instance = instance(new PauseCountingClock(nanos(monotonic), nanos(wall)));
        assertThat(admittedAfter(instance, () -> {
                    server.advance(HOUR.plusSeconds(1));
                    wall.advance(Duration.ofSeconds(1));
                    monotonic.advance(Duration.ofSeconds(1));
                }))
                .isBetween(limit.capacity() + 1, limit.capacity() + limit.lease());
    }

    @Test
    void wallClockThatIsSetBackHasNoEffect() {
        PauseCountingClock clock = new PauseCountingClock(nanos(monotonic), nanos(wall));
        long before = clock.getAsLong();
        wall.set(wall.micros() - TestClock.inMicros(HOUR));
        monotonic.advance(Duration.ofSeconds(1));
        assertThat(clock.getAsLong() - before).isEqualTo(Duration.ofSeconds(1).toNanos());
    }
}
