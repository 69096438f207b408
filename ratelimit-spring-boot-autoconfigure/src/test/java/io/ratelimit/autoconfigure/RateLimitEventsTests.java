package io.ratelimit.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.RateLimiter;
import io.ratelimit.RateLimiterRegistry;
import io.ratelimit.event.RateLimitRejectedEvent;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.redis.RateLimitScriptExecutor;
import io.ratelimit.spi.StoreHealth;
import io.ratelimit.testing.LogRecorder;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.event.EventListener;

class RateLimitEventsTests {

    private static final String KEY = "alice@example.org";

    private final ApplicationContextRunner inMemory =
            LimitedContexts.inMemory().withPropertyValues("ratelimit.limits.quotes.rate=2/h");

    @Test
    void rejectionsArePublishedOnAnotherThreadWithoutTheKey() {
        inMemory.withBean(Recorder.class).run(context -> {
            for (int i = 0; i < 3; i++) {
                quotes(context).tryAcquire(KEY);
            }
            Recorder recorder = context.getBean(Recorder.class);
            RateLimitRejectedEvent event = (RateLimitRejectedEvent) recorder.next();
            assertThat(event.limitName()).isEqualTo("quotes");
            assertThat(event.permits()).isEqualTo(1);
            assertThat(event.decision())
                    .isEqualTo(quotes(context).tryAcquire(KEY))
                    .extracting(RateLimitDecision::allowed, RateLimitDecision::capacity)
                    .containsExactly(false, 2L);
            assertThat(event.toString()).doesNotContain("alice");
            assertThat(recorder.next()).isInstanceOf(RateLimitRejectedEvent.class);
            assertThat(recorder.events).isEmpty();
            assertThat(recorder.threads).containsOnly("ratelimit-events");
        });
    }

    @Test
    void dryRunIsNoEvent() {
        inMemory.withPropertyValues(
                        "ratelimit.limits.quotes.dry-run=true",
                        "ratelimit.limits.exports.rate=1/h",
                        "ratelimit.limits.exports.capacity=1")
                .withBean(Recorder.class)
                .run(context -> {
                    for (int i = 0; i < 3; i++) {
                        quotes(context).tryAcquire(KEY);
                    }
                    RateLimiter exports =
                            context.getBean(RateLimiterRegistry.class).get("exports");
                    exports.allCallers().tryAcquire();
                    exports.allCallers().tryAcquire();
                    Recorder recorder = context.getBean(Recorder.class);
                    assertThat(((RateLimitRejectedEvent) recorder.next()).limitName())
                            .isEqualTo("exports");
                });
    }

    @Test
    void listenerThatBlocksHoldsUpNoCall() {
        inMemory.withBean(Blocker.class).run(context -> {
            Blocker blocker = context.getBean(Blocker.class);
            try (LogRecorder log = new LogRecorder("io.ratelimit.listeners")) {
                for (int i = 0; i < 5_000; i++) {
                    quotes(context).tryAcquire(KEY);
                }
                // Each call went on, though the first event is still being handled.
                assertThat(blocker.handled).hasValueLessThan(1);
                assertThat(log.lines())
                        .containsExactly("Listeners of RateLimitRejectedEvent are too slow: 1,024 are waiting, so"
                                + " further ones are dropped; this is logged once");
                blocker.latch.countDown();
                await().untilAsserted(() -> assertThat(blocker.handled).hasValue(1024));
            }
        });
    }

    @Test
    void storeThatFailsAndRecoversIsPublished() {
        FailingScriptExecutor redis = new FailingScriptExecutor();
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(RateLimitAutoConfiguration.class))
                // On a busy machine, a call must not fail as stalled.
                .withPropertyValues("ratelimit.limits.quotes.rate=1/h", "ratelimit.redis.timeout=10s")
                .withBean(RateLimitScriptExecutor.class, () -> redis)
                .withBean(Recorder.class)
                .run(context -> {
                    Recorder recorder = context.getBean(Recorder.class);
                    redis.fail();
                    quotes(context).tryAcquire(KEY);
                    RateLimitStoreFailureEvent failed = (RateLimitStoreFailureEvent) recorder.next();
                    assertThat(failed.reason()).isEqualTo(Reason.TIMEOUT);
                    assertThat(failed.toString()).doesNotContain("alice");
                    redis.recover();
                    StoreHealth health = context.getBean(StoreHealth.class);
                    await("the end of the outage").until(() -> health.failures().isEmpty());
                    assertThat(recorder.next()).isEqualTo(new RateLimitStoreRecoveredEvent(failed.since(), 1));
                });
    }

    private static RateLimiter quotes(ApplicationContext context) {
        return context.getBean(RateLimiterRegistry.class).get("quotes");
    }

    static class Recorder {

        final BlockingQueue<Object> events = new LinkedBlockingQueue<>();

        final List<String> threads = new CopyOnWriteArrayList<>();

        @EventListener({
            RateLimitRejectedEvent.class,
            RateLimitStoreFailureEvent.class,
            RateLimitStoreRecoveredEvent.class
        })
        void on(Object event) {
            threads.add(Thread.currentThread().getName());
            events.add(event);
        }

        @Nullable
        Object next() throws InterruptedException {
            return events.poll(60, TimeUnit.SECONDS);
        }
    }

    static class Blocker {

        final CountDownLatch latch = new CountDownLatch(1);

        final java.util.concurrent.atomic.AtomicInteger handled = new java.util.concurrent.atomic.AtomicInteger();

        @EventListener
        void on(RateLimitRejectedEvent event) throws InterruptedException {
            if (latch.await(1, TimeUnit.MINUTES)) {
                handled.incrementAndGet();
            }
        }
    }
}
