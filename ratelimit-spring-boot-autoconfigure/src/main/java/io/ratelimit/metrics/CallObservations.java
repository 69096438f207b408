package io.ratelimit.metrics;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.ratelimit.RateLimit;
import io.ratelimit.internal.limiter.CallObserver;
import org.jspecify.annotations.Nullable;

/**
 * Adds calls to traces: an observation for each wait, and an event of the caller's observation for each rejection.
 *
 * @param caller {@code null}: that of the current thread; {@link Observation#NOOP}: none
 */
public record CallObservations(
        ObservationRegistry registry, @Nullable Observation caller) implements CallObserver {

    private static final String WAIT = "ratelimit.waiting";

    private static final String REJECTION = "ratelimit.rejected";

    public CallObservations(ObservationRegistry registry) {
        this(registry, null);
    }

    @Override
    public boolean isTracing() {
        return true;
    }

    @Override
    public CallObserver ofCall(@Nullable Object parent) {
        Observation known = parent instanceof Observation given ? given : registry.getCurrentObservation();
        return new CallObservations(registry, known == null ? Observation.NOOP : known);
    }

    @Override
    public void onRejection(RateLimit limit) {
        Observation observation = caller == null ? registry.getCurrentObservation() : caller;
        if (observation != null) {
            observation.event(Observation.Event.of(REJECTION, "rejected by rate limit " + limit.name()));
        }
    }

    @Override
    public Runnable onWait(RateLimit limit) {
        Observation wait = Observation.createNotStarted(WAIT, registry)
                .contextualName("wait for rate limit " + limit.name())
                .lowCardinalityKeyValue("limit", limit.name());
        if (caller != null) {
            wait.parentObservation(caller.isNoop() ? null : caller);
        }
        wait.start();
        return wait::stop;
    }
}
