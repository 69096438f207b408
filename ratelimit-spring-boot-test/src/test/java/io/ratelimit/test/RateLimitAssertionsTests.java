package io.ratelimit.test;

import static io.ratelimit.test.RateLimitAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.ratelimit.RateLimit;
import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.autoconfigure.RateLimitAutoConfiguration;
import io.ratelimit.test.context.RateLimitTestAutoConfiguration;
import java.time.Duration;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class RateLimitAssertionsTests {

    @Test
    void bucketAndDecision() {
        withLimiter(limiter -> {
            assertThat(limiter)
                    .key("alice")
                    .isFull()
                    .isNotExhausted()
                    .hasCapacity(2)
                    .hasRetryAfter(Duration.ZERO);
            assertThat(limiter.tryAcquire("alice")).isAllowed().hasRemaining(1).hasDelay(Duration.ZERO);
            assertThat(limiter).key("alice").hasRemaining(1).hasResetAfter(Duration.ofSeconds(30));
            assertThat(limiter.tryAcquire("alice", 2))
                    .isRejected()
                    .hasCapacity(2)
                    .hasRetryAfter(Duration.ofSeconds(30))
                    .hasResetAfter(Duration.ofSeconds(30));
            assertThat(limiter.tryAcquire("alice", 3)).isRejected().canNeverSucceed();
            limiter.acquire("alice");
            assertThat(limiter).key("alice").isExhausted();
            assertThat(limiter).key("bob").isFull();
        });
    }

    @Test
    void bucketOfAllCallers() {
        withLimiter(limiter -> {
            assertThat(limiter).allCallers().isFull();
            limiter.allCallers().acquire();
            assertThat(limiter).allCallers().hasRemaining(1);
            assertThat(limiter).key("alice").isFull();
            assertFails(
                    "[bucket of all callers]",
                    () -> assertThat(limiter).allCallers().isFull());
        });
    }

    @Test
    void everyAssertionCanFail() {
        withLimiter(limiter -> {
            RateLimitDecision allowed = limiter.tryAcquire("alice");
            BucketAssert bucket = assertThat(limiter).key("alice");
            assertFails("remaining:\n  2\nbut was:\n  1", () -> bucket.hasRemaining(2));
            assertFails("capacity:\n  1\nbut was:\n  2", () -> bucket.hasCapacity(1));
            assertFails("remaining:\n  2\nbut was:\n  1", bucket::isFull);
            assertFails("rejected but it was allowed", bucket::isExhausted);
            assertFails("retryAfter:\n  PT1S\nbut was:\n  PT0S", () -> bucket.hasRetryAfter(Duration.ofSeconds(1)));
            assertFails("resetAfter:\n  PT1S\nbut was:\n  PT30S", () -> bucket.hasResetAfter(Duration.ofSeconds(1)));
            assertFails("rejected but it was allowed", assertThat(allowed)::isRejected);
            assertFails(
                    "delay:\n  PT1S\nbut was:\n  PT0S",
                    () -> assertThat(allowed).hasDelay(Duration.ofSeconds(1)));
            assertFails("retryAfter:\n  null\nbut was:\n  PT0S", assertThat(allowed)::canNeverSucceed);
            limiter.acquire("alice");
            assertFails("allowed but it was rejected", bucket::isNotExhausted);
            assertFails("allowed but it was rejected", assertThat(limiter.tryAcquire("alice"))::isAllowed);
            assertFails("not to be null", () -> assertThat((RateLimiter) null).key("alice"));
            assertFails("not to be null", assertThat((RateLimitDecision) null)::isAllowed);
        });
    }

    @Test
    void failureNamesTheBucketOrTheDescription() {
        withLimiter(limiter -> {
            assertFails(
                    "[bucket of key 'alice']",
                    () -> assertThat(limiter).key("alice").hasRemaining(1));
            assertFails(
                    "[after logging in]",
                    () -> assertThat(limiter)
                            .as("after logging in")
                            .key("alice")
                            .hasRemaining(1));
            assertFails(
                    "[after logging in]",
                    () -> assertThat(limiter)
                            .key("alice")
                            .as("after logging in")
                            .hasRemaining(1));
        });
    }

    private static void assertFails(String message, ThrowingCallable assertion) {
        assertThatExceptionOfType(AssertionError.class)
                .isThrownBy(assertion)
                .withMessageContaining(message.replace("\n", System.lineSeparator()));
    }

    private static void withLimiter(Consumer<RateLimiter> test) {
        new ApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(RateLimitTestAutoConfiguration.class, RateLimitAutoConfiguration.class))
                .withPropertyValues("ratelimit.enabled=true", "ratelimit.store=in-memory")
                .withBean(
                        RateLimit.class,
                        () -> RateLimit.named("quotes").rate("2/m").build())
                .run(context ->
                        test.accept(context.getBean(RateLimiterRegistry.class).get("quotes")));
    }
}
