package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.Scope;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.redis.RedisServer;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** {@code scope = INSTANCE} in applications whose limits are counted in Redis. */
@Timeout(180)
class InstanceScopeTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(Quotes.class)
            .withPropertyValues("ratelimit.on-store-failure=throw", "ratelimit.redis.timeout=10s");

    @Test
    void limitOfAnInstanceNeedsNoRedis() {
        runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    quotes.own();
                    assertThatExceptionOfType(RateLimitExceededException.class).isThrownBy(quotes::own);
                    RateLimiter own = context.getBean(RateLimiterRegistry.class).get("own");
                    own.allCallers().reset();
                    assertThat(own.allCallers().peek().remaining()).isEqualTo(1);
                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    assertThat(meters.get("ratelimit.store")
                                    .tags("store", "in_memory", "outcome", "success")
                                    .timer()
                                    .count())
                            .isEqualTo(2);
                    assertThat(meters.get("ratelimit.store")
                                    .tag("store", "redis")
                                    .timers())
                            .allSatisfy(timer -> assertThat(timer.count()).isZero());
                    assertThat(context).hasSingleBean(StoreHealth.class);
                });
    }

    /** It waits for nothing. */
    @Test
    void limitOfAnInstanceMayBeAppliedOnAnEventLoop() {
        runner.withBean(LettuceConnectionFactory.class, () -> new LettuceConnectionFactory("127.0.0.1", 1))
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    onEventLoop(quotes::own);
                    RateLimiter own = context.getBean(RateLimiterRegistry.class).get("own");
                    onEventLoop(() ->
                            assertThat(own.allCallers().tryAcquire().allowed()).isFalse());
                    assertThatExceptionOfType(IllegalStateException.class)
                            .isThrownBy(() -> onEventLoop(quotes::common))
                            .withMessageContaining("must not block");
                });
    }

    private static void onEventLoop(Runnable task) {
        Mono.fromRunnable(task).subscribeOn(Schedulers.parallel()).block(SOON);
    }

    @Test
    void instancesShareTheOthers() {
        try (RedisServer redis = new RedisServer()) {
            ApplicationContextRunner connected =
                    runner.withPropertyValues("ratelimit.redis.url=redis://127.0.0.1:" + redis.port());
            connected.run(first -> connected.run(second -> {
                first.getBean(Quotes.class).both();
                second.getBean(Quotes.class).both();
                assertThat(remaining(first, "own")).isZero();
                assertThat(remaining(second, "own")).isZero();
                assertThat(remaining(first, "common")).isEqualTo(1);

                assertRejected(first, "own");
                assertThat(remaining(first, "common")).isEqualTo(1);

                first.getBean(RateLimiterRegistry.class).get("own").allCallers().reset();
                assertThat(remaining(second, "own")).isZero();
                first.getBean(Quotes.class).common();
                assertRejected(first, "common");
                assertThat(remaining(first, "own")).isEqualTo(1);
            }));
        }
    }

    private static void assertRejected(ApplicationContext context, String limit) {
        assertThatExceptionOfType(RateLimitExceededException.class)
                .isThrownBy(context.getBean(Quotes.class)::both)
                .satisfies(rejection -> assertThat(rejection.getLimitName()).isEqualTo(limit));
    }

    private static long remaining(ApplicationContext context, String limit) {
        return context.getBean(RateLimiterRegistry.class)
                .get(limit)
                .allCallers()
                .peek()
                .remaining();
    }

    static class Quotes {

        @RateLimited(name = "own", rate = "1/h", scope = Scope.INSTANCE)
        public void own() {}

        @RateLimited(name = "common", rate = "3/h")
        public void common() {}

        @RateLimited(name = "own", rate = "1/h", scope = Scope.INSTANCE)
        @RateLimited(name = "common", rate = "3/h")
        public void both() {}
    }
}
