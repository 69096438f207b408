package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimitAdmin;
import io.ratelimit.RateLimitAlgorithm;
import io.ratelimit.RateLimitOverride;
import io.ratelimit.RateLimitRefusedException;
import io.ratelimit.RateLimitStoreException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.testing.OwnAlgorithms.Batches;
import io.ratelimit.testing.OwnAlgorithms.Tolerant;
import io.ratelimit.testing.redis.SharedRedis;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Beans that are algorithms are used by their names, and mistakes in them stop the start-up. */
class OwnAlgorithmTests {

    private final ApplicationContextRunner memory = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withPropertyValues("ratelimit.store=in-memory", "ratelimit.limits.own.rate=4/d");

    private final ApplicationContextRunner redis = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
            .withBean(LettuceConnectionFactory.class, SharedRedis.get()::connect)
            .withPropertyValues(
                    "ratelimit.redis.key-prefix=own-algorithm-" + System.nanoTime(),
                    "ratelimit.redis.timeout=20s",
                    "ratelimit.limits.own.rate=4/d");

    private static class Named extends Batches {

        private final String name;

        Named(String name) {
            this.name = name;
        }

        @Override
        public String name() {
            return name;
        }
    }

    private static RateLimitAlgorithm withPart(String part) {
        return new Batches() {

            @Override
            public String luaPart() {
                return part;
            }
        };
    }

    @Test
    void limitNamesTheAlgorithmInAnySpelling() {
        for (ApplicationContextRunner store : new ApplicationContextRunner[] {memory, redis}) {
            store.withBean(Tolerant.class)
                    .withPropertyValues("ratelimit.limits.own.algorithm=tolerant2")
                    .run(context -> {
                        RateLimiter limiter =
                                context.getBean(RateLimiterRegistry.class).get("own");
                        assertThat(limiter.tryAcquire("alice", 3).remaining()).isEqualTo(1);
                        assertThat(limiter.tryAcquire("alice", 2).allowed()).isFalse();
                        RateLimitAdmin admin = context.getBean(RateLimitAdmin.class);
                        assertThat(admin.status("own").effective().algorithmName())
                                .isEqualTo("Tolerant_2");
                        admin.override(
                                "own", RateLimitOverride.builder().capacity(9L).build());
                        assertThat(limiter.tryAcquire("alice", 1).capacity()).isEqualTo(9);
                    });
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "tolerant3 | ratelimit.limits.own.algorithm must be a known value (was \"tolerant3\"). | Did you mean Tolerant_2?",
                "other     | ratelimit.limits.own.algorithm must be a known value (was \"other\").     | CONCURRENCY, Tolerant_2."
            })
    void unknownNameStopsTheStartUp(String name, String problem, String fix) {
        memory.withBean(Tolerant.class)
                .withPropertyValues("ratelimit.limits.own.algorithm=" + name)
                .run(context -> assertThat(LimitedContexts.analysis(context)).satisfies(analysis -> {
                    assertThat(analysis.getDescription()).contains(problem);
                    assertThat(analysis.getAction()).contains(fix);
                }));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "token-bucket | must not be that of an algorithm of the starter (was \"token-bucket\").",
                "Tolerant-2   | must not be that of the bean",
                "no name      | must consist of letters, digits, '-' and '_' (was \"no name\")."
            })
    void nameThatIsNoneStopsTheStartUp(String name, String problem) {
        memory.withBean(Tolerant.class)
                .withBean("named", Named.class, () -> new Named(name))
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains(problem));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max-wait=1s       | max-wait must be 0 for batches, which cannot reserve permits (was 1s).",
                "lease=2           | lease must be 0 here, because an algorithm of the application decides when permits come back (was 2).",
                "refill=interval   | refill must be CONTINUOUS for batches (was INTERVAL).",
                "rate=4/month      | rate must have a duration as its period for batches",
                "hold=10s          | hold must not be set for batches (was 10s)."
            })
    void whatNoAlgorithmOfAnApplicationCanDoStopsTheStartUp(String property, String problem) {
        memory.withBean(Batches.class)
                .withPropertyValues("ratelimit.limits.own.algorithm=batches", "ratelimit.limits.own." + property)
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains(problem));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "' '                         | must not be empty.",
                "return {                    | batches:1: ",
                "return {recover = 1}        | recover must be a function (was number).",
                "x = 1                       | batches:1: ",
                "'return {recover = function(_, u, s, r) return u + 0.5, s, r end, time_until = function() return 1 end}' | recover: must return three whole numbers"
            })
    void mistakeInTheLuaPartStopsTheStartUp(String part, String problem) {
        redis.withBean(RateLimitAlgorithm.class, () -> withPart(part))
                .withPropertyValues("ratelimit.limits.own.algorithm=batches")
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("batches", problem));
    }

    @Test
    void missingResourceStopsTheStartUp() {
        redis.withBean(RateLimitAlgorithm.class, () -> new NoResource())
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("there is no NoResource.lua beside"));
    }

    @Test
    void mistakeInJavaStopsTheStartUp() {
        memory.withBean(RateLimitAlgorithm.class, () -> new Batches() {

                    @Override
                    public State take(Rule rule, State state, long now, long permits) {
                        throw new IllegalArgumentException("no");
                    }
                })
                .run(context -> assertThat(LimitedContexts.analysis(context).getDescription())
                        .contains("'batches'", "take: java.lang.IllegalArgumentException: no"));
    }

    @ParameterizedTest
    @CsvSource({"local", "reject", "throw", "allow"})
    void failureInMemoryIsThatOfTheLimitAlone(String policy) {
        memory.withBean(RateLimitAlgorithm.class, () -> new Batches() {

                    @Override
                    public State take(Rule rule, State state, long now, long permits) {
                        return permits == 3 ? new State(1, now + 1, 0) : super.take(rule, state, now, permits);
                    }
                })
                .withPropertyValues(
                        "ratelimit.limits.own.algorithm=batches",
                        "ratelimit.limits.own.on-store-failure=" + policy,
                        "ratelimit.limits.other.rate=4/d")
                .run(context -> {
                    RateLimiterRegistry registry = context.getBean(RateLimiterRegistry.class);
                    RateLimiter own = registry.get("own");
                    assertThat(own.tryAcquire("alice", 1).remaining()).isEqualTo(3);
                    if (policy.equals("allow")) {
                        assertThat(own.tryAcquire("alice", 3).allowed()).isTrue();
                    } else {
                        assertThatExceptionOfType(RateLimitStoreException.class)
                                .isThrownBy(() -> own.tryAcquire("alice", 3))
                                .isInstanceOf(
                                        policy.equals("throw")
                                                ? RateLimitStoreException.class
                                                : RateLimitRefusedException.class);
                    }
                    assertThat(own.tryAcquire("alice", 1).remaining()).isEqualTo(2);
                    assertThat(registry.get("other").tryAcquire("alice", 3).allowed())
                            .isTrue();
                });
    }

    private static final class NoResource implements RateLimitAlgorithm {

        @Override
        public String name() {
            return "no-resource";
        }

        @Override
        public State recover(Rule rule, State state, long now) {
            return state;
        }

        @Override
        public long timeUntil(Rule rule, State state, long now, long most) {
            return 1;
        }
    }
}
