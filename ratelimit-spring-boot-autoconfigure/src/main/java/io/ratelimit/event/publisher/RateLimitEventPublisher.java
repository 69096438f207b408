package io.ratelimit.event.publisher;

import io.ratelimit.RateLimitDecision;
import io.ratelimit.event.RateLimitChangedEvent;
import io.ratelimit.event.RateLimitRejectedEvent;
import io.ratelimit.event.RateLimitStoreFailureEvent;
import io.ratelimit.event.RateLimitStoreRecoveredEvent;
import io.ratelimit.spi.Charge;
import io.ratelimit.spi.RateLimitListener;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.context.ApplicationContext;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.ApplicationEventMulticaster;

/**
 * Publishes application events in the background, if the application has listeners for them when it starts. Rejections have a
 * queue of their own, so that a flood of them leaves room for the other events.
 */
public final class RateLimitEventPublisher {

    /** The largest number of events that wait in each queue. */
    static final int MOST = 1024;

    private static final List<Class<?>> EVENTS = List.of(
            RateLimitRejectedEvent.class,
            RateLimitStoreFailureEvent.class,
            RateLimitStoreRecoveredEvent.class,
            RateLimitChangedEvent.class);

    private final ApplicationContext context;

    private final Consumer<RateLimitListener> calls;

    private final EventQueue rejections = new EventQueue("RateLimitRejectedEvent", MOST, this::publishNow);

    private final EventQueue others = new EventQueue("rate limit events", MOST, this::publishNow);

    /** Events of the start-up, when it is not known yet which have listeners. */
    private final List<Object> early = new ArrayList<>();

    /** {@code null}: not known yet. */
    private @Nullable Set<Class<?>> listenedTo;

    private volatile boolean running;

    /**
     * Creates a publisher.
     *
     * @param calls adds a listener of all calls, which is needed only if the application listens to rejections
     */
    public RateLimitEventPublisher(ApplicationContext context, Consumer<RateLimitListener> calls) {
        this.context = context;
        this.calls = calls;
    }

    /** Publishes an event other than a rejection. Never blocks and never throws. */
    public synchronized void publish(Object event) {
        if (listenedTo != null) {
            if (listenedTo.contains(event.getClass())) {
                others.add(() -> event);
            }
        } else if (early.size() < MOST) {
            early.add(event);
        }
    }

    /** Publishes from now on, first what has happened before. */
    public synchronized void start() {
        running = true;
        if (listenedTo != null) {
            return;
        }
        listenedTo = EVENTS.stream()
                .filter(event -> EventListeners.exist(context, event))
                .collect(Collectors.toUnmodifiableSet());
        if (listenedTo.contains(RateLimitRejectedEvent.class)) {
            calls.accept(this::onDecision);
        }
        early.forEach(this::publish);
        early.clear();
    }

    private void onDecision(Charge charge, RateLimitDecision decision, RateLimitListener.Outcome outcome) {
        // Otherwise a rejected listener of rejections would be called for its own, without end.
        if (outcome == RateLimitListener.Outcome.REJECTED && !rejections.isPublishing()) {
            rejections.add(
                    () -> new RateLimitRejectedEvent(charge.limit().name(), charge.permits(), decision, Instant.now()));
        }
    }

    /** Spring passes what a child context publishes on to its parent, which knows of changes itself. */
    private void publishNow(Object event) {
        ApplicationContext parent = event instanceof RateLimitChangedEvent ? context.getParent() : null;
        if (running && parent != null && parent.containsBean("rateLimitEventPublisher")) {
            context.getBean(ApplicationEventMulticaster.class)
                    .multicastEvent(new PayloadApplicationEvent<>(context, event));
        } else if (running) {
            context.publishEvent(event);
        }
    }

    /** Publishes nothing more. */
    public void stop() {
        running = false;
    }
}
