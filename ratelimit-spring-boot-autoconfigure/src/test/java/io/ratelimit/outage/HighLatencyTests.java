package io.ratelimit.outage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimiter;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.FaultyProxy;
import io.ratelimit.testing.redis.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A Redis 20 ms away, and users that call all the time. What a second of calls costs depends on the machine and is printed;
 * {@code -Dratelimit.test.rate=20000 -Dratelimit.test.seconds=10 -Dratelimit.test.timeout=100ms} is a load to measure with.
 */
@Timeout(300)
@LongRunning
class HighLatencyTests {

    private static final Duration ROUND_TRIP = Duration.ofMillis(20);

    private static final int USERS = 1_000;

    private static final int RATE = Integer.getInteger("ratelimit.test.rate", 4_000);

    private static final int SECONDS = Integer.getInteger("ratelimit.test.seconds", 2);

    private static final String TIMEOUT = System.getProperty("ratelimit.test.timeout", "10s");

    private final AtomicLong nanos = new AtomicLong();

    private final AtomicInteger answered = new AtomicInteger();

    private int sent;

    @Test
    void allCallsAreDecidedThere() {
        try (RedisProcess server = RedisProcess.server();
                FaultyProxy wire = new FaultyProxy(server.port(), ROUND_TRIP.dividedBy(2));
                Instance instance = new Instance(List.of(
                        "spring.data.redis.host=" + RedisProcess.HOST,
                        "spring.data.redis.port=" + wire.port(),
                        "ratelimit.redis.timeout=" + TIMEOUT))) {
            call(instance.limiter(Instance.AMPLE), 1);
            int warmUp = sent;
            long failedBefore = instance.notDecided();
            nanos.set(0);
            call(instance.limiter(Instance.AMPLE), SECONDS);
            int calls = sent - warmUp;
            System.out.printf(
                    "%d calls at %d/s, %d not decided there (%d in the second before), mean latency %.1f ms%n",
                    calls, RATE, instance.notDecided() - failedBefore, failedBefore, nanos.get() / 1e6 / calls);
            assertThat(instance.notDecided() - failedBefore).isZero();
        }
    }

    /** Every millisecond, as many as are due by then. */
    private void call(RateLimiter limiter, int seconds) {
        ScheduledExecutorService users = Executors.newSingleThreadScheduledExecutor();
        int first = sent;
        long start = System.nanoTime();
        var unused = users.scheduleAtFixedRate(
                () -> {
                    long due = Math.min((System.nanoTime() - start) * RATE / 1_000_000_000, (long) RATE * seconds);
                    while (sent - first < due) {
                        callOnce(limiter, sent++);
                    }
                },
                0,
                1,
                TimeUnit.MILLISECONDS);
        await().atMost(Duration.ofSeconds(seconds + 60)).until(() -> answered.get() >= first + RATE * seconds);
        users.shutdownNow();
    }

    private void callOnce(RateLimiter limiter, int number) {
        long start = System.nanoTime();
        var unused = limiter.tryAcquireAsync("user" + number % USERS, 1).handle((decision, thrown) -> {
            nanos.addAndGet(System.nanoTime() - start);
            return answered.incrementAndGet();
        });
    }
}
