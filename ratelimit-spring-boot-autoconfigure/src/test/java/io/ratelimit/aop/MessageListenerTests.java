package io.ratelimit.aop;

import static org.assertj.core.api.Assertions.assertThat;

import io.ratelimit.Algorithm;
import io.ratelimit.RateLimitExceededException;
import io.ratelimit.annotation.RateLimited;
import io.ratelimit.autoconfigure.LimitedContexts;
import io.ratelimit.autoconfigure.StoppedClock;
import io.ratelimit.spi.Waiter;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Listeners are called by the thread of a container, which delivers a message again if its listener fails. */
class MessageListenerTests {

    private final List<String> events = new CopyOnWriteArrayList<>();

    private final ApplicationContextRunner runner =
            LimitedContexts.inMemory().withBean(Listeners.class, () -> new Listeners(events));

    @Test
    void containersThreadWaitsAndMessagesKeepTheirOrder() {
        waiting().run(context -> {
            deliver(context, "receive", "a", "b", "c");
            assertThat(events)
                    .containsExactly(
                            "received a",
                            "container waits PT0.1S",
                            "received b",
                            "container waits PT0.1S",
                            "received c");
        });
    }

    @Test
    void rejectedMessageIsDeliveredAgainAndTakesNoPermitMeanwhile() {
        waiting().run(context -> {
            deliver(context, "receiveOrFail", "a", "b");
            assertThat(events)
                    .containsExactly(
                            "received a",
                            "failed b",
                            "failed b",
                            "failed b",
                            "failed b",
                            "container waits PT1S",
                            "received b");
        });
    }

    @Test
    void fallbackAcknowledgesTheMessage() {
        waiting().run(context -> {
            deliver(context, "receiveOrPark", "a", "b");
            assertThat(events).containsExactly("received a", "parked b");
        });
    }

    private ApplicationContextRunner waiting() {
        return runner.withBean(Waits.class, () -> new Waits(events));
    }

    /** Calls the listener by reflection, as containers do. A second passes after each failed delivery. */
    private void deliver(AssertableApplicationContext context, String listener, String... messages) throws Exception {
        StoppedClock clock = context.getBean(StoppedClock.class);
        context.getBean(Waits.class).clock = clock;
        Listeners bean = context.getBean(Listeners.class);
        Deque<String> queue = new ArrayDeque<>(List.of(messages));
        var container = Executors.newSingleThreadExecutor(work -> new Thread(work, "container"));
        try {
            container
                    .submit(() -> {
                        while (!queue.isEmpty()) {
                            try {
                                bean.getClass()
                                        .getMethod(listener, String.class)
                                        .invoke(bean, queue.element());
                                queue.remove();
                            } catch (InvocationTargetException failure) {
                                assertThat(failure).hasCauseInstanceOf(RateLimitExceededException.class);
                                events.add("failed " + queue.element());
                                clock.advance(Duration.ofSeconds(1));
                            }
                        }
                        return null;
                    })
                    .get();
        } finally {
            container.shutdownNow();
        }
    }

    static class Waits implements Waiter {

        private final List<String> events;

        private StoppedClock clock;

        Waits(List<String> events) {
            this.events = events;
        }

        @Override
        public void await(Duration delay) {
            events.add(Thread.currentThread().getName() + " waits " + delay);
            clock.advance(delay);
        }
    }

    static class Listeners {

        private final List<String> events;

        Listeners(List<String> events) {
            this.events = events;
        }

        @RateLimited(algorithm = Algorithm.LEAKY_BUCKET, capacity = 1, rate = "10/s", maxWait = "30s")
        public void receive(String message) {
            events.add("received " + message);
        }

        @RateLimited(capacity = 1, rate = "1/5s", maxWait = "1s")
        public void receiveOrFail(String message) {
            events.add("received " + message);
        }

        @RateLimited(capacity = 1, rate = "1/5s", maxWait = "1s", fallbackMethod = "park")
        public void receiveOrPark(String message) {
            events.add("received " + message);
        }

        void park(String message) {
            events.add("parked " + message);
        }
    }
}
