package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.ratelimit.MissingRateLimitKeyException;
import io.ratelimit.RateLimitExpressionException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import java.security.Principal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class KeyExpressionTests {

    /** The expression under test is set in the configuration, which wins over the annotation. */
    private static final String KEY = "ratelimit.limits.quotes.key-expression=";

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean("quotes", Quotes.class, Quotes::new)
            .withBean("tenant", Tenant.class, Tenant::new);

    @ParameterizedTest
    @CsvSource(
            quoteCharacter = '"',
            value = {
                "#user, alice",
                "#p0, alice",
                "#a0, alice",
                "#root.args[0], alice",
                "args[0], alice",
                "#root.method.name, quote",
                "method.name, quote",
                "#root.target.region, north",
                "@tenant.name, acme",
                "#user + ':' + #number, alice:7",
                "#number, 7",
                "\"{'alice', 'bob'}.?[#this == #user][0]\", alice",
                "\"#user.toUpperCase()\", ALICE",
            })
    void keyIsWhatTheExpressionSays(String expression, String key) {
        runner.withPropertyValues(KEY + expression).run(context -> {
            context.getBean(Quotes.class).quote("alice", 7);
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(key);
        });
    }

    @Test
    void eachKeyHasItsOwnBucket() {
        runner.withPropertyValues(KEY + "#user").run(context -> {
            Quotes quotes = context.getBean(Quotes.class);
            quotes.quote("alice", 1);
            quotes.quote("bob", 1);
            assertThat(catchThrowable(() -> quotes.quote("alice", 1))).hasMessage("Rate limit 'quotes' exceeded");
        });
    }

    @Test
    void withoutAnExpressionAllCallersShareOneBucket() {
        runner.run(context -> {
            context.getBean(Quotes.class).quote("alice", 1);
            assertThat(context.getBean(RecordingListener.class).keys()).containsOnlyNulls();
        });
    }

    static Stream<Arguments> injections() {
        return Stream.of(
                        "T(java.lang.Runtime).getRuntime().exec('true')",
                        "#{T(java.lang.System).exit(1)}",
                        "${ratelimit.store}",
                        "@tenant.name",
                        "#root",
                        "'",
                        "{0}")
                .map(value -> Arguments.of(value));
    }

    @ParameterizedTest
    @MethodSource("injections")
    void valueThatLooksLikeAnExpressionIsOnlyAKey(String value) {
        runner.withPropertyValues(KEY + "#user").run(context -> {
            context.getBean(Quotes.class).quote(value, 1);
            assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(value);
        });
    }

    @Test
    void compiledExpressionGivesTheSameKeys() {
        runner.withPropertyValues(KEY + "#user + method.name", "ratelimit.limits.quotes.rate=1000/s")
                .run(context -> {
                    List<String> expected = new ArrayList<>();
                    for (int i = 0; i < 300; i++) {
                        context.getBean(Quotes.class).quote("user" + i, 1);
                        expected.add("user" + i + "quote");
                    }
                    assertThat(context.getBean(RecordingListener.class).keys()).isEqualTo(expected);
                });
    }

    static Stream<Arguments> values() {
        UUID uuid = new UUID(1, 2);
        return Stream.of(
                Arguments.of(42L, "42"),
                Arguments.of(uuid, uuid.toString()),
                Arguments.of(Optional.of("alice"), "alice"),
                Arguments.of(OptionalInt.of(7), "7"),
                Arguments.of(OptionalLong.of(7), "7"),
                Arguments.of(OptionalDouble.of(0.5), "0.5"),
                Arguments.of((Principal) () -> "alice", "alice"));
    }

    @ParameterizedTest
    @MethodSource("values")
    void valueWithATextOfItsOwnIsAKey(Object value, String key) {
        runner.withPropertyValues("ratelimit.limits.objects.key-expression=#value")
                .run(context -> {
                    context.getBean(Quotes.class).object(value);
                    assertThat(context.getBean(RecordingListener.class).keys()).containsExactly(key);
                });
    }

    static Stream<Arguments> keysOfNoText() {
        return Stream.of(new Object(), new String[] {"secret"}, List.of("secret"), Map.of("secret", 1), (Runnable)
                        () -> {})
                .map(value -> Arguments.of(value));
    }

    @ParameterizedTest
    @MethodSource("keysOfNoText")
    void valueWithoutATextOfItsOwnFailsTheCall(Object value) {
        runner.withPropertyValues("ratelimit.limits.objects.key-expression=#value")
                .run(context -> {
                    Quotes quotes = context.getBean(Quotes.class);
                    assertThat(catchThrowable(() -> quotes.object(value)))
                            .isInstanceOf(RateLimitExpressionException.class)
                            .hasMessageContaining(Quotes.class.getName() + ".object(Object)")
                            .hasMessageContaining("\"#value\"")
                            .hasMessageContaining("must return a single value")
                            .hasMessageNotContaining("secret");
                    assertThat(quotes.calls).isZero();
                });
    }

    static Stream<Arguments> emptyKeys() {
        return Stream.of(
                        Optional.empty(),
                        Optional.of(OptionalInt.empty()),
                        OptionalInt.empty(),
                        OptionalLong.empty(),
                        OptionalDouble.empty(),
                        (Principal) () -> null)
                .map(value -> Arguments.of(value));
    }

    /** Callers without a key do not share a bucket. */
    @ParameterizedTest
    @MethodSource("emptyKeys")
    void emptyOptionalIsNoKey(Object value) {
        runner.withPropertyValues("ratelimit.limits.objects.key-expression=#value")
                .run(context -> assertThat(catchThrowable(
                                () -> context.getBean(Quotes.class).object(value)))
                        .isInstanceOf(MissingRateLimitKeyException.class)
                        .hasMessageContaining("must return a key (was null)"));
    }

    /** Its message may name a caller. */
    @ParameterizedTest
    @CsvSource({
        "key-expression, IllegalArgumentException, RateLimitInputException, failed (java.lang.IllegalArgumentException)",
        "key-expression, IllegalStateException, RateLimitExpressionException, failed",
        "plan-expression, IllegalArgumentException, RateLimitInputException, failed (java.lang.IllegalArgumentException)",
        "plan-expression, IllegalStateException, RateLimitExpressionException, failed"
    })
    void failureOfTheTextOfAValueIsNotRepeated(String attribute, String thrown, String type, String message) {
        runner.withPropertyValues(
                        "ratelimit.limits.objects.plans.pro.capacity=7",
                        "ratelimit.limits.objects.plan-expression=none",
                        "ratelimit.limits.objects." + attribute + "=#value")
                .run(context -> assertThat(catchThrowable(
                                () -> context.getBean(Quotes.class).object(new Unspeakable(thrown))))
                        .satisfies(failure ->
                                assertThat(failure.getClass().getSimpleName()).isEqualTo(type))
                        .hasMessageEndingWith(attribute + " \"#value\" " + message)
                        .hasMessageNotContaining("secret"));
    }

    record Unspeakable(String thrown) {

        @Override
        public String toString() {
            throw thrown.startsWith("IllegalArgument")
                    ? new IllegalArgumentException("secret")
                    : new IllegalStateException("secret");
        }
    }

    static class Quotes {

        int calls;

        @RateLimited(name = "quotes", rate = "1/s")
        public void quote(String user, int number) {
            calls++;
        }

        @RateLimited(name = "objects", rate = "1/s")
        public void object(Object value) {
            calls++;
        }

        public String getRegion() {
            return "north";
        }
    }

    public static class Tenant {

        public String getName() {
            return "acme";
        }
    }
}
