package io.ratelimit.aop;

import static io.ratelimit.autoconfigure.LimitedContexts.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitExceededException;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.testing.redis.SharedRedis;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** Calls that succeed cost nothing, by annotation as docs/only-failures.md has it. RequestCostTests does the same by URL. */
class OnlyFailuresTests {

    @Test
    void successCostsNothingAndAFailureKeepsItsPermit() {
        LimitedContexts.inMemory().withBean(Codes.class).run(context -> {
            Codes codes = context.getBean(Codes.class);
            for (int call = 1; call <= 9; call++) {
                codes.confirm("alice", "right");
            }
            for (int call = 1; call <= 3; call++) {
                assertThatIllegalArgumentException().isThrownBy(() -> codes.confirm("alice", "wrong"));
            }
            assertRejected("wrong-codes", () -> codes.confirm("alice", "right"));
            codes.confirm("bob", "right");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"right", "wrong"})
    void guessesAtTheSameTimeDoNotPassBecauseNoneHasFailedYet(String code) {
        LimitedContexts.inMemory().withBean(Codes.class).run(context -> assertThreeAreAdmitted(code, context, context));
    }

    @ParameterizedTest
    @ValueSource(strings = {"right", "wrong"})
    void guessesAtTheSameTimeDoNotPassOnInstancesThatShareARedis(String code) {
        ApplicationContextRunner instance = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                .withBean(Codes.class)
                .withPropertyValues(
                        "ratelimit.redis.host=" + SharedRedis.get().host(),
                        "ratelimit.redis.port=" + SharedRedis.get().port(),
                        "ratelimit.redis.key-prefix=only-failures-" + UUID.randomUUID(),
                        "ratelimit.redis.timeout=10s");
        instance.run(one -> instance.run(other -> assertThreeAreAdmitted(code, one, other)));
    }

    private static void assertThreeAreAdmitted(String code, ApplicationContext one, ApplicationContext other) {
        List<Codes> instances = List.of(one.getBean(Codes.class), other.getBean(Codes.class));
        List<CompletableFuture<String>> calls = IntStream.range(0, 8)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> instances.get(i % 2).confirmLater("alice", code), task -> new Thread(task).start()))
                .toList();
        await("rejections")
                .until(() -> calls.stream().filter(CompletableFuture::isDone).count() == 5);
        assertThat(calls.stream().filter(CompletableFuture::isDone))
                .allSatisfy(call -> assertThat(call.handle((value, failure) -> failure.getCause())
                                .join())
                        .isInstanceOf(RateLimitExceededException.class));
        instances.forEach(codes -> codes.answers().countDown());
        await().until(() -> calls.stream().allMatch(CompletableFuture::isDone));
        RateLimiter limiter = other.getBean(RateLimiterRegistry.class).get("held-codes");
        await("refunds").until(() -> limiter.peek("alice").remaining() == (code.equals("right") ? 3 : 0));
    }

    static class Codes {

        private final CountDownLatch answers = new CountDownLatch(1);

        @RateLimited(name = "wrong-codes", rate = "3/d", keyExpression = "#user", permitsAfter = "0")
        public void confirm(String user, String code) {
            check(code);
        }

        @RateLimited(name = "held-codes", rate = "3/d", keyExpression = "#user", permitsAfter = "0")
        public String confirmLater(String user, String code) {
            try {
                assertThat(answers.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException ex) {
                throw new IllegalStateException(ex);
            }
            check(code);
            return code;
        }

        public CountDownLatch answers() {
            return answers;
        }

        private static void check(String code) {
            if (!code.equals("right")) {
                throw new IllegalArgumentException(code);
            }
        }
    }
}
