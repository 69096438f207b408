package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitInterruptedException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.RecordingListener;
import io.ratelimit.spi.RateLimitStore;
import io.ratelimit.spi.Waiter;
import io.ratelimit.testing.StubStore;
import io.ratelimit.testing.WaitingThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class WaitingMethodTests {

    private final StubStore store = new StubStore();

    private final List<String> events = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner runner = LimitedContexts.inMemory()
            .withBean(RateLimitStore.class, () -> store)
            .withBean(Exports.class, () -> new Exports(events));

    private final ApplicationContextRunner recording =
            runner.withBean(Waiter.class, () -> delay -> events.add("waited " + delay));

    @Test
    void waitsOnceForTheLongestDelayAndThenRuns() {
        recording.run(context -> {
            store.answer(after(Duration.ofMillis(5)), after(Duration.ofMillis(500)));
            assertThat(context.getBean(Exports.class).export()).isEqualTo("export");
            assertThat(events).containsExactly("waited PT0.5S", "ran");
            assertThat(context.getBean(RecordingListener.class).outcomes())
                    .containsExactlyInAnyOrder("burst ALLOWED", "sustained ALLOWED");
        });
    }

    @Test
    void waitsForNoLimitInDryRun() {
        recording.withPropertyValues("ratelimit.dry-run=true").run(context -> {
            store.answer(after(Duration.ofMillis(5)), after(Duration.ofMillis(500)));
            context.getBean(Exports.class).export();
            assertThat(events).containsExactly("ran");
        });
    }

    @Test
    void doesNotWaitForARejection() {
        recording.run(context -> {
            store.answer(after(Duration.ofMillis(5)), RateLimitDecision.ofMicros(1, 0, 0, 1, 1));
            assertThat(context.getBean(Exports.class).export()).isEqualTo("fallback");
            assertThat(events).isEmpty();
        });
    }

    @Test
    void interruptedWaitCallsNeitherTheMethodNorItsFallback() {
        runner.run(context -> {
            store.answer(after(WaitingThreads.FOREVER), after(Duration.ZERO));
            Exports exports = context.getBean(Exports.class);
            WaitingThreads threads = new WaitingThreads();
            threads.start(() -> events.add(exports.export()));
            threads.awaitParked();
            assertThat(threads.interrupt()).singleElement().satisfies(end -> {
                assertThat(end.thrown()).isInstanceOf(RateLimitInterruptedException.class);
                assertThat(end.interrupted()).isTrue();
            });
            assertThat(events).isEmpty();
        });
    }

    private static RateLimitDecision after(Duration delay) {
        return new RateLimitDecision(true, 1, 0, delay, Duration.ZERO, delay);
    }

    static class Exports {

        private final List<String> events;

        Exports(List<String> events) {
            this.events = events;
        }

        @RateLimited(name = "burst", rate = "1/s", fallbackMethod = "instead")
        @RateLimited(name = "sustained", rate = "1/s")
        public String export() {
            events.add("ran");
            return "export";
        }

        String instead() {
            return "fallback";
        }
    }
}
