package io.ratelimit.autoconfigure;

import java.lang.System.Logger.Level;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.SmartLifecycle;

/**
 * Starts the parts of the starter after the application's connections to Redis and before the web server, one after the other, and
 * stops them in the reverse order: when no request is under way, and while there are connections.
 */
public final class RateLimitLifecycle implements SmartLifecycle, DisposableBean {

    private static final System.Logger logger = System.getLogger("io.ratelimit");

    /** Those of Spring Data's connections is 0. */
    private static final int PHASE = 1;

    /** The parts, in the order of their start. */
    public enum Stage {

        /** The events of all other parts are published. */
        EVENTS,

        /** Connects. The stop refunds leases, releases permits, makes settlements that wait, and then closes the connections. */
        REDIS,

        /** Hears of changes by other instances. */
        MESSAGES,

        /** The stop sends the last counts. */
        FIGURES,

        /** Applies overrides. */
        OVERRIDES
    }

    /** A bean that starts and stops with the context. */
    public record Part(Stage stage, Runnable start, Runnable stop) {}

    private final List<Part> parts;

    private final Deque<Part> running = new ArrayDeque<>();

    RateLimitLifecycle(Collection<Part> parts) {
        this.parts = parts.stream().sorted(Comparator.comparing(Part::stage)).toList();
    }

    @Override
    public synchronized void start() {
        if (running.isEmpty()) {
            for (Part part : parts) {
                running.push(part);
                part.start.run();
            }
        }
    }

    @Override
    public synchronized void stop() {
        while (!running.isEmpty()) {
            Part part = running.pop();
            try {
                part.stop.run();
            } catch (RuntimeException ex) {
                logger.log(Level.WARNING, "Cannot stop " + part.stage + "; stopping the other parts", ex);
            }
        }
    }

    @Override
    public boolean isRunning() {
        return !running.isEmpty();
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** Stops the parts if the start-up of the context has failed after theirs. */
    @Override
    public void destroy() {
        stop();
    }
}
