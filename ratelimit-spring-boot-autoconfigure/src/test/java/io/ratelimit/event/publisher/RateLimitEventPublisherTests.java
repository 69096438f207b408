package io.ratelimit.event.publisher;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.RateLimitStoreException.Reason;
import io.ratelimit.event.RateLimitRejectedEvent;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import io.ratelimit.testing.TestLimits;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.event.EventListener;

class RateLimitEventPublisherTests {

    private static final RateLimitStoreFailureEvent FAILED =
            new RateLimitStoreFailureEvent(Reason.ERROR, "down", Instant.EPOCH);

    private final List<RateLimitListener> calls = new ArrayList<>();

    @Test
    void listensToNoCallWithoutAListener() {
        try (var context = new AnnotationConfigApplicationContext(OfStore.class)) {
            new RateLimitEventPublisher(context, calls::add).start();
            assertThat(calls).isEmpty();
        }
    }

    @Test
    void listensToCallsOnceAlsoIfRestarted() {
        try (var context = new AnnotationConfigApplicationContext(OfRejections.class)) {
            RateLimitEventPublisher publisher = new RateLimitEventPublisher(context, calls::add);
            publisher.start();
            publisher.stop();
            publisher.start();
            assertThat(calls).hasSize(1);
        }
    }

    @Test
    void whatHappensWhileTheApplicationStartsIsPublishedAfterwards() {
        try (var context = new AnnotationConfigApplicationContext(OfStore.class)) {
            RateLimitEventPublisher publisher = new RateLimitEventPublisher(context, calls::add);
            publisher.publish(FAILED);
            publisher.publish(new RateLimitStoreRecoveredEvent(Instant.EPOCH, 1));
            OfStore listener = context.getBean(OfStore.class);
            assertThat(listener.heard).isEmpty();
            publisher.start();
            await().untilAsserted(() -> assertThat(listener.heard).containsExactly(FAILED));
        }
    }

    /** Otherwise it would be called for ever. */
    @Test
    void rejectedListenerOfRejectionsCausesNoFurtherEvent() {
        try (var context = new AnnotationConfigApplicationContext(LimitedListener.class)) {
            new RateLimitEventPublisher(context, calls::add).start();
            LimitedListener listener = context.getBean(LimitedListener.class);
            listener.calls = calls.get(0);
            LimitedListener.reject(calls.get(0), "first");
            await().untilAsserted(() -> assertThat(listener.heard).contains("first"));
            LimitedListener.reject(calls.get(0), "last");
            await().untilAsserted(() -> assertThat(listener.heard).contains("last"));
            assertThat(listener.heard).containsExactly("first", "last");
        }
    }

    static class LimitedListener {

        final List<String> heard = new CopyOnWriteArrayList<>();

        private volatile RateLimitListener calls;

        @EventListener
        void on(RateLimitRejectedEvent event) {
            if (!event.limitName().equals("mails")) {
                reject(calls, "mails");
            }
            heard.add(event.limitName());
        }

        static void reject(RateLimitListener calls, String limit) {
            calls.onDecision(
                    new Charge(TestLimits.tokenBucket(limit, 1, "1/h"), null, 1),
                    RateLimitDecision.ofMicros(0, 0, 1, 1, 1),
                    RateLimitListener.Outcome.REJECTED);
        }
    }

    static class OfStore {

        final List<Object> heard = new CopyOnWriteArrayList<>();

        @EventListener
        void on(RateLimitStoreFailureEvent event) {
            heard.add(event);
        }
    }

    static class OfRejections {

        @EventListener
        void on(RateLimitRejectedEvent event) {}
    }
}
