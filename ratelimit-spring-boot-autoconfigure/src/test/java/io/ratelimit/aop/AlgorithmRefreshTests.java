package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.testing.LongRunning;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.cloud.context.environment.EnvironmentChangeEvent;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A refresh gives a limit the algorithm CONCURRENCY, or takes it away, in the middle of a call. */
@LongRunning
class AlgorithmRefreshTests {

    private static final String KEY = "alice";

    private final ApplicationContextRunner application = LimitedContexts.inMemory()
            .withBean(Exports.class)
            .withBean("refresher", Refresher.class)
            .withPropertyValues("ratelimit.limits.exports.capacity=5");

    /** The charge is one of the limit as it is after the refresh. */
    @ParameterizedTest
    @EnumSource
    void permitsAreReleasedIfTheAlgorithmChangesWhileTheKeyIsEvaluated(Way way) {
        application.run(context -> {
            Refresher refresher = context.getBean(Refresher.class);
            refresher.whileTheKeyIsEvaluated = refresher::toConcurrency;
            way.call(context.getBean(Exports.class), () -> "");
            assertThat(limiter(context).peek(KEY).remaining()).isEqualTo(5);

            refresher.whileTheKeyIsEvaluated = refresher::toRate;
            way.call(context.getBean(Exports.class), () -> "");
            assertThat(limiter(context).peek(KEY).remaining()).isEqualTo(4);
            refresher.toConcurrency();
            assertThat(limiter(context).peek(KEY).remaining()).isEqualTo(5);
        });
    }

    @ParameterizedTest
    @CsvSource({"VALUE,in-memory", "FUTURE,in-memory", "MONO,in-memory", "FLUX,in-memory", "VALUE,redis", "MONO,redis"})
    void callReleasesWhatItHasTakenIfTheAlgorithmChangesMeanwhile(Way way, String store) {
        application
                .withPropertyValues(
                        "ratelimit.store=" + store,
                        "ratelimit.redis.host=" + SharedRedis.get().host(),
                        "ratelimit.redis.port=" + SharedRedis.get().port(),
                        "ratelimit.redis.timeout=30s",
                        "ratelimit.redis.key-prefix=test-" + UUID.randomUUID())
                .run(context -> {
                    Exports exports = context.getBean(Exports.class);
                    Refresher refresher = context.getBean(Refresher.class);
                    RateLimiter limiter = limiter(context);
                    way.call(exports, () -> {
                        refresher.toConcurrency();
                        return "";
                    });
                    assertThat(limiter.peek(KEY).remaining()).isEqualTo(5);

                    way.call(exports, () -> {
                        assertThat(limiter.peek(KEY).remaining()).isEqualTo(4);
                        refresher.toRate();
                        return "";
                    });
                    refresher.toConcurrency();
                    assertThat(limiter.peek(KEY).remaining()).isEqualTo(5);

                    // In the meantime, another call holds one.
                    try (RateLimiter.Entry other = limiter.enter(KEY)) {
                        assertThat(other).isNotNull();
                        way.call(exports, () -> {
                            refresher.toRate();
                            refresher.toConcurrency();
                            assertThat(limiter.peek(KEY).remaining()).isEqualTo(3);
                            return "";
                        });
                        assertThat(limiter.peek(KEY).remaining()).isEqualTo(4);
                    }
                    assertThat(limiter.peek(KEY).remaining()).isEqualTo(5);
                });
    }

    private static RateLimiter limiter(ConfigurableApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class).get("exports");
    }

    enum Way {
        VALUE {
            @Override
            void call(Exports exports, Supplier<String> body) {
                var unused = exports.value(body);
            }
        },
        TWO_LIMITS {
            @Override
            void call(Exports exports, Supplier<String> body) {
                var unused = exports.twice(body);
            }
        },
        FUTURE {
            @Override
            void call(Exports exports, Supplier<String> body) {
                var unused = exports.future(body).join();
            }
        },
        MONO {
            @Override
            void call(Exports exports, Supplier<String> body) {
                var unused = exports.mono(body).block();
            }
        },
        FLUX {
            @Override
            void call(Exports exports, Supplier<String> body) {
                var unused = exports.flux(body).blockLast();
            }
        };

        abstract void call(Exports exports, Supplier<String> body);
    }

    static class Exports {

        @RateLimited(name = "exports", capacity = 5, rate = "5/h", keyExpression = "@refresher.key()")
        public String value(Supplier<String> body) {
            return body.get();
        }

        @RateLimited(name = "exports", capacity = 5, rate = "5/h", keyExpression = "@refresher.key()")
        @RateLimited(name = "others", rate = "1000/s")
        public String twice(Supplier<String> body) {
            return body.get();
        }

        @RateLimited(name = "exports", capacity = 5, rate = "5/h", keyExpression = "@refresher.key()")
        public CompletableFuture<String> future(Supplier<String> body) {
            return CompletableFuture.supplyAsync(body);
        }

        @RateLimited(name = "exports", capacity = 5, rate = "5/h", keyExpression = "@refresher.key()")
        public Mono<String> mono(Supplier<String> body) {
            return Mono.fromSupplier(body);
        }

        @RateLimited(name = "exports", capacity = 5, rate = "5/h", keyExpression = "@refresher.key()")
        public Flux<String> flux(Supplier<String> body) {
            return Flux.just(1, 2).map(number -> body.get());
        }
    }

    static class Refresher {

        @Autowired
        private ConfigurableApplicationContext context;

        private Runnable whileTheKeyIsEvaluated = () -> {};

        public String key() {
            whileTheKeyIsEvaluated.run();
            return KEY;
        }

        void toConcurrency() {
            refresh("concurrency", "");
        }

        void toRate() {
            refresh("token-bucket", "5/h");
        }

        private void refresh(String algorithm, String rate) {
            TestPropertyValues.of(
                            "ratelimit.limits.exports.algorithm=" + algorithm, "ratelimit.limits.exports.rate=" + rate)
                    .applyTo(context);
            context.publishEvent(new EnvironmentChangeEvent(context));
        }
    }
}
