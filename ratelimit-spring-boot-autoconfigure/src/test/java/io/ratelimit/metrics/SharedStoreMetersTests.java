package io.ratelimit.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.redis.RedisServer;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** The meters of applications whose limits are in Redis. */
@Timeout(180)
class SharedStoreMetersTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(MeterRegistry.class, () -> registry);

    @Test
    void metersMoveWhileRedisDecidesAndWhileItIsAway() {
        try (RedisServer redis = new RedisServer()) {
            runner.withPropertyValues(
                            "ratelimit.redis.url=redis://127.0.0.1:" + redis.port(),
                            "ratelimit.redis.timeout=10s",
                            "ratelimit.limits.quotes.rate=2/h",
                            "ratelimit.limits.bulk.rate=1000/h",
                            "ratelimit.limits.bulk.algorithm=fixed_window",
                            "ratelimit.limits.bulk.lease=10",
                            "ratelimit.limits.exports.algorithm=concurrency",
                            "ratelimit.limits.exports.capacity=2",
                            "ratelimit.limits.exports.hold=3s")
                    .run(context -> {
                        assertThat(state()).isEqualTo(1);
                        assertThat(lostPermits()).isZero();
                        RateLimiter.Entry entry = limiter(context, "exports").enter("alice", 2);
                        try {
                            redis.send("FLUSHALL");
                            redis.send("FUNCTION", "FLUSH");
                            await("renewal").until(() -> lostPermits() == 2);
                            assertThat(limiter(context, "exports").peek("alice").allowed())
                                    .isFalse();
                        } finally {
                            entry.close();
                        }
                        assertThat(cachedRejections()).isZero();
                        assertThat(leased("quotes")).isZero();
                        assertThat(leased("bulk")).isZero();

                        RateLimiter quotes = limiter(context, "quotes");
                        for (int i = 0; i < 5; i++) {
                            quotes.tryAcquire("alice");
                        }
                        assertThat(cachedRejections()).isEqualTo(2);

                        RateLimiter bulk = limiter(context, "bulk");
                        bulk.tryAcquire("alice");
                        bulk.tryAcquire("alice");
                        assertThat(leased("bulk")).isBetween(1.0, 10.0);
                        double before = leased("bulk");
                        bulk.tryAcquire("alice");
                        assertThat(leased("bulk")).isEqualTo(before - 1);

                        // Of an instance without calls, reading the meter finds out.
                        redis.kill();
                        await("outage").until(() -> state() == 0);
                        redis.restart();
                        await("recovery").until(() -> state() == 1);
                    });
            assertThat(registry.getMeters()).noneMatch(Gauge.class::isInstance);
        }
    }

    @ParameterizedTest
    @CsvSource({"reject, 3", "throw, 3", "local, 0", "allow, 0"})
    void refusedCallsAreCounted(String policy, double expected) {
        runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .withPropertyValues("ratelimit.limits.quotes.rate=9/h", "ratelimit.on-store-failure=" + policy)
                .run(context -> {
                    RateLimiter quotes = limiter(context, "quotes");
                    List<ThrowingCallable> ways = List.of(
                            () -> quotes.tryAcquire("alice"),
                            () -> quotes.acquire("alice"),
                            () -> quotes.acquireAsync("alice")
                                    .toCompletableFuture()
                                    .join());
                    ways.forEach(way -> assertThat(catchThrowable(way) != null).isEqualTo(expected > 0));
                    assertThat(calls("refused")).isEqualTo(expected);
                    assertThat(calls("allowed")).isEqualTo(3 - expected);
                    assertThat(state()).isZero();
                });
    }

    private double calls(String outcome) {
        return registry.get("ratelimit.calls")
                .tags("limit", "quotes", "outcome", outcome)
                .counter()
                .count();
    }

    private double state() {
        return registry.get("ratelimit.store.state").gauge().value();
    }

    private double lostPermits() {
        return registry.get("ratelimit.concurrency.lost").counter().count();
    }

    private double cachedRejections() {
        return registry.get("ratelimit.cached.rejections").counter().count();
    }

    private double leased(String limit) {
        return registry.get("ratelimit.leased").tag("limit", limit).gauge().value();
    }

    private static RateLimiter limiter(ApplicationContext context, String limit) {
        return context.getBean(RateLimiterRegistry.class).get(limit);
    }
}
